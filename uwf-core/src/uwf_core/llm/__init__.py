"""One client for every OpenAI-compatible model service (extra `uwf-core[llm]`).

    from uwf_core.llm.chat import ChatRequest, Message
    from uwf_core.llm.client import ChatClient

    with ChatClient(request.model) as client:        # a `uwf_core.api.Model`
        reply = client.chat(ChatRequest(messages=(Message(role="user", text="Hello"),)))
        print(reply.text, reply.usage.input_tokens)

    chat       what is asked and answered: messages, tools, requests, replies, deltas
    arguments  the arguments of a tool call as a mapping, or an answer to the model
    client     ChatClient: chat, list_models
    limits     how long, how large, how often again; the clock that tests replace
    failures   what a service's refusal means: the typed failures of `uwf_core.errors`

Within: body (a request as JSON), reply and stream (a reply from JSON, whole or in events), usage,
sse (server-sent events), adapt (what this service does not take), exchange (HTTP in a thread that
nobody has to wait for). httpx is imported with the first call.
"""
