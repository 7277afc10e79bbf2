"""The services that `setup` knows, as in their documentation.

Several have one address for mainland China and another for elsewhere, with separate keys
(dashscope, siliconflow, kimi, glm, stepfun, minimax): `--base-url` sets the other one.
"""

from typing import NamedTuple

from uwf_core.config.keys import DEFAULT_PROTOCOL


class Preset(NamedTuple):
    """A service: its base address, and the variable that its documentation uses for the key
    (None: it needs none), and the protocol that it speaks.
    """

    base_url: str
    key_variable: str | None
    protocol: str = DEFAULT_PROTOCOL


PRESETS: dict[str, Preset] = {
    "openai": Preset("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": Preset("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "xai": Preset("https://api.x.ai/v1", "XAI_API_KEY"),
    "venice": Preset("https://api.venice.ai/api/v1", "VENICE_API_KEY"),
    "dashscope": Preset("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "deepseek": Preset("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "siliconflow": Preset("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
    "volcengine": Preset("https://ark.cn-beijing.volces.com/api/v3", "ARK_API_KEY"),
    "kimi": Preset("https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"),
    "glm": Preset("https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY"),
    "stepfun": Preset("https://api.stepfun.com/v1", "STEP_API_KEY"),
    "minimax": Preset("https://api.minimax.io/v1", "MINIMAX_API_KEY"),
    "ollama": Preset("http://localhost:11434/v1", None),
    "openai-responses": Preset("https://api.openai.com/v1", "OPENAI_API_KEY", "openai-responses"),
    "anthropic": Preset("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "anthropic"),
    "gemini": Preset(
        "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY", "gemini"
    ),
}
