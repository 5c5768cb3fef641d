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

allow   *        opencode.ai/zen/**
allow   GET,HEAD models.opencode.ai
allow   GET,HEAD models.dev
allow   GET,HEAD models.opencode.ai
allow   *        api.anthropic.com
allow   *        api.openai.com
allow   *        openrouter.ai/api/**
secret  OPENCODE_API_KEY   from env at opencode.ai       as bearer
secret  ANTHROPIC_API_KEY  from env at api.anthropic.com as header x-api-key
secret  OPENAI_API_KEY     from env at api.openai.com    as bearer
secret  OPENROUTER_API_KEY from env at openrouter.ai     as bearer
