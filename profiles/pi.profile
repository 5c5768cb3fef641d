extends default
about   pi, the coding agent by Mario Zechner
command pi
resume  ~/.pi/agent/sessions --continue
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

# What the provider fetches for the box goes past the door. Somebody is asked; to let it pass for good,
# allow the same line (the refusal prints it).
ask     POST api.anthropic.com/v1/messages** json:/mcp_servers/*=* reason="the provider would contact MCP servers for the box, past the door"
ask     POST api.anthropic.com/v1/messages** json:/tools/*/type=web_fetch* reason="the provider would fetch pages for the box, past the door"
ask     POST api.anthropic.com/v1/messages** json:/tools/*/type=web_search* reason="the provider would search the web for the box, past the door"
ask     POST api.anthropic.com/v1/messages** json:/messages/*/content/*/source/type=url reason="the provider would fetch what the URL names, past the door"
ask     POST api.anthropic.com/v1/messages** json:/messages/*/content/*/content/*/source/type=url reason="the provider would fetch what the URL names, past the door"
ask     POST api.anthropic.com/v1/messages** json:/requests/*/params/mcp_servers/*=* reason="the provider would contact MCP servers for the box, past the door"
ask     POST api.anthropic.com/v1/messages** json:/requests/*/params/tools/*/type=web_fetch* reason="the provider would fetch pages for the box, past the door"
ask     POST api.anthropic.com/v1/messages** json:/requests/*/params/tools/*/type=web_search* reason="the provider would search the web for the box, past the door"
ask     POST api.anthropic.com/v1/messages** json:/requests/*/params/messages/*/content/*/source/type=url reason="the provider would fetch what the URL names, past the door"
ask     POST api.anthropic.com/v1/messages** json:/requests/*/params/messages/*/content/*/content/*/source/type=url reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/tools/*/type=mcp reason="the provider would contact MCP servers for the box, past the door"
ask     POST api.openai.com/v1/** json:/tools/*/type=web_search* reason="the provider would search the web for the box, past the door"
ask     POST api.openai.com/v1/** json:/web_search_options=* reason="the provider would search the web for the box, past the door"
ask     POST api.openai.com/v1/** json:/input/*/content/*/image_url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/input/*/content/*/file_url=* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/input/*/output/*/image_url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/input/*/output/*/file_url=* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/messages/*/content/*/image_url/url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/googleSearch=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/google_search=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/googleSearchRetrieval=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/google_search_retrieval=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/urlContext=* reason="the provider would fetch pages for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/url_context=* reason="the provider would fetch pages for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/contents/*/parts/*/fileData/fileUri=http* reason="the provider would fetch what the URL names, past the door"
ask     POST generativelanguage.googleapis.com/** json:/contents/*/parts/*/file_data/file_uri=http* reason="the provider would fetch what the URL names, past the door"
ask     POST openrouter.ai/api/v1/** json:/plugins/*/id=web reason="the provider would search the web for the box, past the door"
ask     POST openrouter.ai/api/v1/** json:/web_search_options=* reason="the provider would search the web for the box, past the door"
ask     POST openrouter.ai/api/v1/** json:/messages/*/content/*/image_url/url=http* reason="the provider would fetch what the URL names, past the door"

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
