extends default
about   pi, the coding agent by Mario Zechner
command pi
install npm install -g @mariozechner/pi-coding-agent
# Offline is about its start only: it looks for news, and fetches fd and ripgrep if the box lacks them.
env     PI_SKIP_VERSION_CHECK=1 PI_TELEMETRY=0 PI_OFFLINE=1

# pi never asks before it acts. Packages and extensions are programs of the host and stay there.
seed    json ~/.pi/agent/settings.json keep=theme,defaultProvider,defaultModel,defaultThinkingLevel,enabledModels,hideThinkingBlock,quietStartup,lastChangelogVersion,doubleEscapeAction,compaction,retry,terminal set=/enableInstallTelemetry=false
seed    copy ~/.pi/agent/AGENTS.md
seed    copy ~/.pi/agent/SYSTEM.md
seed    copy ~/.pi/agent/skills
seed    copy ~/.pi/agent/prompts
seed    copy ~/.pi/agent/themes
seed    copy ~/.pi/agent/keybindings.json

persist ~/.pi/agent/sessions

# A key that can make keys outlives the box; these lines come before the allows.
deny    * api.anthropic.com/v1/organizations/** reason="it makes and lists keys of an organisation"
deny    * api.anthropic.com/api/oauth/claude_cli/create_api_key reason="it makes an API key"
deny    * api.openai.com/v1/organization/** reason="it makes and lists keys of an organisation"
deny    * api.openai.com/v1/realtime/client_secrets reason="it makes a token"
deny    * api.openai.com/v1/realtime/sessions reason="it makes a token"
deny    * api.openai.com/dashboard/** reason="it makes and lists keys"
deny    * generativelanguage.googleapis.com/*/auth_tokens reason="it makes a token"
deny    * openrouter.ai/api/v1/keys reason="it makes and lists keys"
deny    * openrouter.ai/api/v1/keys/** reason="it makes and lists keys"
deny    * openrouter.ai/api/v1/auth/keys reason="it makes a key"
deny    * openrouter.ai/api/v1/auth/keys/** reason="it makes a key"

allow   *        api.anthropic.com
allow   *        api.openai.com
allow   *        generativelanguage.googleapis.com
allow   *        openrouter.ai/api/**
# A secret line gives no access: for a provider without a line above, add --allow '* HOST'.
secret  ANTHROPIC_API_KEY  from env at api.anthropic.com as header x-api-key inject
secret  OPENAI_API_KEY     from env at api.openai.com    as bearer inject
secret  OPENROUTER_API_KEY from env at openrouter.ai     as bearer inject
secret  GEMINI_API_KEY     from env at generativelanguage.googleapis.com as header x-goog-api-key,query key inject
secret  GROQ_API_KEY       from env at api.groq.com      as bearer
secret  MISTRAL_API_KEY    from env at api.mistral.ai    as bearer
secret  DEEPSEEK_API_KEY   from env at api.deepseek.com  as bearer
secret  XAI_API_KEY        from env at api.x.ai          as bearer
secret  CEREBRAS_API_KEY   from env at api.cerebras.ai   as bearer
secret  ZAI_API_KEY        from env at api.z.ai          as bearer
