extends default
about   opencode
command opencode
install npm install -g opencode-ai
env     OPENCODE_DISABLE_AUTOUPDATE=true OPENCODE_DISABLE_SHARE=true

# Providers of the host's settings hold keys, plugins and MCP servers are commands of the host.
seed    json ~/.config/opencode/opencode.json keep=model,small_model,theme,keybinds,tui,username,default_agent set=/autoupdate=false set=/share=disabled set=/permission/edit=allow set=/permission/bash=allow set=/permission/webfetch=allow set=/permission/external_directory=allow set=/permission/doom_loop=allow
seed    copy ~/.config/opencode/AGENTS.md
seed    copy ~/.config/opencode/agent
seed    copy ~/.config/opencode/command
seed    copy ~/.config/opencode/skill
seed    copy ~/.config/opencode/themes

persist ~/.local/share/opencode/storage ~/.local/share/opencode/snapshot
persist ~/.local/share/opencode/opencode.db ~/.local/share/opencode/opencode.db-wal ~/.local/share/opencode/opencode.db-shm
persist ~/.local/state/opencode/kv.json ~/.local/state/opencode/model.json

# A key that can make keys outlives the box; these lines come before the allows.
deny    * api.anthropic.com/v1/organizations/** reason="it makes and lists keys of an organisation"
deny    * api.anthropic.com/api/oauth/claude_cli/create_api_key reason="it makes an API key"
deny    * api.openai.com/v1/organization/** reason="it makes and lists keys of an organisation"
deny    * api.openai.com/v1/realtime/client_secrets reason="it makes a token"
deny    * api.openai.com/v1/realtime/sessions reason="it makes a token"
deny    * api.openai.com/dashboard/** reason="it makes and lists keys"
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
ask     POST openrouter.ai/api/v1/** json:/plugins/*/id=web reason="the provider would search the web for the box, past the door"
ask     POST openrouter.ai/api/v1/** json:/web_search_options=* reason="the provider would search the web for the box, past the door"
ask     POST openrouter.ai/api/v1/** json:/messages/*/content/*/image_url/url=http* reason="the provider would fetch what the URL names, past the door"

allow   *        opencode.ai/zen/**
allow   GET,HEAD models.dev
allow   GET,HEAD models.opencode.ai
allow   *        api.anthropic.com
allow   *        api.openai.com
allow   *        openrouter.ai/api/**
# A secret line gives no access: for a provider without a line above, add --allow '* HOST'.
secret  OPENCODE_API_KEY   from env at opencode.ai       as bearer inject
secret  ANTHROPIC_API_KEY  from env at api.anthropic.com as header x-api-key inject
secret  OPENAI_API_KEY     from env at api.openai.com    as bearer inject
secret  OPENROUTER_API_KEY from env at openrouter.ai     as bearer inject
secret  GEMINI_API_KEY     from env at generativelanguage.googleapis.com as header x-goog-api-key,query key inject
secret  GROQ_API_KEY       from env at api.groq.com      as bearer
secret  MISTRAL_API_KEY    from env at api.mistral.ai    as bearer
secret  DEEPSEEK_API_KEY   from env at api.deepseek.com  as bearer
secret  XAI_API_KEY        from env at api.x.ai          as bearer
secret  GOOGLE_GENERATIVE_AI_API_KEY from env at generativelanguage.googleapis.com as header x-goog-api-key,query key inject
secret  CEREBRAS_API_KEY   from env at api.cerebras.ai   as bearer
secret  TOGETHER_API_KEY   from env at api.together.xyz  as bearer
secret  FIREWORKS_API_KEY  from env at api.fireworks.ai  as bearer
