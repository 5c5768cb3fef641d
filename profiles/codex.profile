extends default
about   Codex by OpenAI
command codex
install npm install -g @openai/codex
args    --dangerously-bypass-approvals-and-sandbox
pass    OPENAI_BASE_URL OPENAI_ORGANIZATION OPENAI_PROJECT RUST_LOG

# The host's config.toml may hold keys of MCP servers and providers, so it is written anew.
seed    write ~/.codex/config.toml "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\ncli_auth_credentials_store = \"file\"\n\n[notice]\nhide_full_access_warning = true\nhide_world_writable_warning = true\n\n[projects.\"%WORKSPACE%\"]\ntrust_level = \"trusted\"\n"
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

allow   *        api.openai.com
allow   *        chatgpt.com/backend-api/**
allow   *        auth.openai.com
# The box has placeholders only: of the key that is set on the host, else of its login.
secret  OPENAI_API_KEY from env         at api.openai.com as bearer inject
secret  CODEX_API_KEY  from env         at api.openai.com as bearer inject
secret  CODEX_LOGIN    from login codex at chatgpt.com,auth.openai.com,api.openai.com as bearer
