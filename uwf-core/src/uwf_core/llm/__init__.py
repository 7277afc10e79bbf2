"""One client for every OpenAI-compatible model service (extra `uwf-core[llm]`).

    from uwf_core.llm.chat import ChatRequest, Message
    from uwf_core.llm.client import ChatClient

    with ChatClient(request.model) as client:        # a `uwf_core.api.Model`
        reply = client.chat(ChatRequest(messages=(Message(role="user", text="Hello"),)))
        print(reply.text, reply.usage.input_tokens)

    chat       messages, tools, requests, replies, deltas
    arguments  parse the arguments of a tool call, or report the error to the model
    client     ChatClient: chat, list_models
    limits     limits of time and size, the retry policy, the clock (tests replace it)
    failures   convert a service's error response to a typed failure of `uwf_core.errors`

Internal: body (a request as JSON), reply (a reply from JSON, whole or in events), echo (what a
service gets back), think (reasoning within the text), sse (server-sent events), adapt (what this
service does not support),
service and exchange (HTTP in a thread that a caller can abandon), address. httpx is imported with
the first call.
"""
