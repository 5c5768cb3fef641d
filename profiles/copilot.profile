extends default
about   GitHub Copilot CLI
command copilot
install npm install -g @github/copilot
args    --yolo

# Exactly "true" also trusts the folder without asking.
env     COPILOT_ALLOW_ALL=true COPILOT_AUTO_UPDATE=false
pass    COPILOT_MODEL GH_HOST COPILOT_GH_HOST COPILOT_PROVIDER_BASE_URL COPILOT_PROVIDER_TYPE

seed    json ~/.copilot/config.json keep=theme,model,banner,beep,parallel_tool_execution,render_markdown,screen_reader set='/trusted_folders=["%WORKSPACE%"]' set=/banner=never set=/autoUpdate=false
seed    copy ~/.copilot/copilot-instructions.md
seed    copy ~/.copilot/agents
seed    copy ~/.copilot/skills

# Its program unpacks itself here at its first start, which takes seconds.
bind    ~/.cache/copilot/pkg cow

persist ~/.copilot/session-state ~/.copilot/history-session-state ~/.copilot/command-history-state.json

allow   *        api.githubcopilot.com
allow   *        *.githubcopilot.com
allow   GET,HEAD api.github.com
deny    POST     api.github.com/graphql json:/query=*mutation* reason="it changes something on GitHub"
allow   POST     api.github.com/graphql
# A token of gh: --secret "GH_TOKEN from cmd 'gh auth token' at api.github.com,*.githubcopilot.com as bearer"
secret  COPILOT_GITHUB_TOKEN from env at api.github.com,*.githubcopilot.com as bearer inject
secret  GH_TOKEN             from env at api.github.com,*.githubcopilot.com as bearer
secret  GITHUB_TOKEN         from env at api.github.com,*.githubcopilot.com as bearer
