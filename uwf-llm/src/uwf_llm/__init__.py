"""One client for every model service.

    from uwf_llm.chat import ChatRequest, Message
    from uwf_llm.client import ChatClient

    with ChatClient(request.model) as client:        # a `uwf_core.api.Model`
        reply = client.chat(ChatRequest(messages=(Message(role="user", text="Hello"),)))
        print(reply.text, reply.usage.input_tokens)

    chat       messages, tools, requests, replies, deltas
    arguments  parse the arguments of a tool call, or report the error to the model
    client     ChatClient: chat, list_models
    protocol   the contract of a protocol; plugins of `uwf.models` add some
    reply      ReplyBuilder: a reply from its pieces, and the failure of an incomplete one
    quirks     LearningProtocol: what protocols share, with what a service does not support left out
    parts      a text, a call or reasoning, as it grows
    layout     the order of a reply's parts, for services that want it back
    encoding   JSON with equal bytes for equal requests
    plugin     the built-in protocols: openai_chat, openai_responses, anthropic, gemini
    limits     limits of time and size, the retry policy, the clock (tests replace it)
    failures   convert a service's error response to a typed failure of `uwf_core.errors`

Internal: sse (server-sent events), service and exchange (HTTP in a thread that a caller can
abandon), address. httpx is imported with the first call.
"""

__version__ = "0.1.0"
