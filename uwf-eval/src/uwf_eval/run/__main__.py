"""`python -m uwf_eval.run`: a worker."""

import gc

gc.set_threshold(20_000)  # the default looks for cycles a hundred times while modules load

if __name__ == "__main__":
    from uwf_eval.run.worker import main

    main()
