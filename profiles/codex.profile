extends default
about   Codex by OpenAI
command codex
install npm install -g @openai/codex
args    --dangerously-bypass-approvals-and-sandbox
resume  ~/.codex/sessions resume %TALK%
pass    OPENAI_BASE_URL OPENAI_ORGANIZATION OPENAI_PROJECT RUST_LOG

# The host's config.toml may hold keys of MCP servers and providers, so it is written anew.
seed    write ~/.codex/config.toml "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\nweb_search = \"disabled\"\ncli_auth_credentials_store = \"file\"\n\n[notice]\nhide_full_access_warning = true\nhide_world_writable_warning = true\n\n[projects.\"%WORKSPACE%\"]\ntrust_level = \"trusted\"\n"
seed    copy ~/.codex/AGENTS.md
seed    copy ~/.codex/prompts
seed    copy ~/.codex/skills
seed    copy ~/.codex/rules

persist ~/.codex/sessions ~/.codex/archived_sessions ~/.codex/history.jsonl

# A key that can make keys outlives the box; these lines come before the allows.
deny    * api.openai.com/v1/organization/** reason="it makes and lists keys of an organisation"
deny    * api.openai.com/v1/realtime/client_secrets reason="it makes a token"
deny    * api.openai.com/v1/realtime/sessions reason="it makes a token"
deny    * api.openai.com/dashboard/** reason="it makes and lists keys"

# What the provider fetches for the box goes past the door. Somebody is asked; to let it pass for good,
# allow the same line (the refusal prints it).
ask     POST api.openai.com/v1/** json:/tools/*/type=mcp reason="the provider would contact MCP servers for the box, past the door"
ask     POST api.openai.com/v1/** json:/tools/*/type=web_search* reason="the provider would search the web for the box, past the door"
ask     POST api.openai.com/v1/** json:/web_search_options=* reason="the provider would search the web for the box, past the door"
ask     POST api.openai.com/v1/** json:/input/*/content/*/image_url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/input/*/content/*/file_url=* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/input/*/output/*/image_url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/input/*/output/*/file_url=* reason="the provider would fetch what the URL names, past the door"
ask     POST api.openai.com/v1/** json:/messages/*/content/*/image_url/url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST chatgpt.com/backend-api/** json:/tools/*/type=mcp reason="the provider would contact MCP servers for the box, past the door"
ask     POST chatgpt.com/backend-api/** json:/tools/*/type=web_search* reason="the provider would search the web for the box, past the door"
ask     POST chatgpt.com/backend-api/** json:/web_search_options=* reason="the provider would search the web for the box, past the door"
ask     POST chatgpt.com/backend-api/** json:/input/*/content/*/image_url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST chatgpt.com/backend-api/** json:/input/*/content/*/file_url=* reason="the provider would fetch what the URL names, past the door"
ask     POST chatgpt.com/backend-api/** json:/input/*/output/*/image_url=http* reason="the provider would fetch what the URL names, past the door"
ask     POST chatgpt.com/backend-api/** json:/input/*/output/*/file_url=* reason="the provider would fetch what the URL names, past the door"
ask     POST chatgpt.com/backend-api/** json:/messages/*/content/*/image_url/url=http* reason="the provider would fetch what the URL names, past the door"

allow   *        api.openai.com
allow   *        chatgpt.com/backend-api/**
allow   *        auth.openai.com
# The box has placeholders only: of the key that is set on the host, else of its login.
# With a key it asks chatgpt.com for the list of models as well, at each start, and shows the key there.
secret  OPENAI_API_KEY from env         at api.openai.com,chatgpt.com/backend-api/codex/models as bearer inject
secret  CODEX_API_KEY  from env         at api.openai.com,chatgpt.com/backend-api/codex/models as bearer inject
secret  CODEX_LOGIN    from login codex at chatgpt.com,auth.openai.com,api.openai.com as bearer
