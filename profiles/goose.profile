extends default
about   goose by Block
command goose
install see https://block.github.io/goose (it puts goose into ~/.local/bin)

# Without a keyring in the box goose would stop at its first secret.
env     GOOSE_MODE=auto GOOSE_DISABLE_KEYRING=1 GOOSE_TELEMETRY_ENABLED=false
pass    GOOSE_PROVIDER GOOSE_MODEL GOOSE_LEAD_MODEL GOOSE_TEMPERATURE GOOSE_CLI_THEME OLLAMA_HOST

# The host's config.yaml may hold keys of extensions, so it is written anew.
seed    write ~/.config/goose/config.yaml "GOOSE_MODE: auto\nGOOSE_TELEMETRY_ENABLED: false\nextensions:\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\n"
seed    copy ~/.config/goose/.goosehints
seed    copy ~/.config/goose/recipes

persist ~/.local/share/goose/sessions ~/.local/state/goose/history.txt

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
secret  GOOGLE_API_KEY     from env at generativelanguage.googleapis.com as header x-goog-api-key,query key inject
secret  GROQ_API_KEY       from env at api.groq.com      as bearer
secret  MISTRAL_API_KEY    from env at api.mistral.ai    as bearer
secret  DEEPSEEK_API_KEY   from env at api.deepseek.com  as bearer
secret  XAI_API_KEY        from env at api.x.ai          as bearer
