extends default
about   Claude Code by Anthropic
command claude
install npm install -g @anthropic-ai/claude-code
args    --dangerously-skip-permissions
resume  ~/.claude/projects --resume %TALK%

# The program cannot be replaced from inside, so its updater and its look at its own installation
# only fail; IS_SANDBOX says that somebody else keeps the walls.
env     DISABLE_AUTOUPDATER=1 DISABLE_INSTALLATION_CHECKS=1 IS_SANDBOX=1
env     CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
pass    ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL
pass    ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL ANTHROPIC_BASE_URL
pass    CLAUDE_CODE_MAX_OUTPUT_TOKENS MAX_THINKING_TOKENS CLAUDE_CODE_EFFORT_LEVEL
pass    BASH_DEFAULT_TIMEOUT_MS BASH_MAX_TIMEOUT_MS

# First-run dialogs are acknowledged. Account, keys, MCP servers (their env holds keys) and the list
# of your other projects stay outside.
seed    json ~/.claude.json keep=theme,editorMode,autoCompactEnabled,verbose,preferredNotifChannel,diffTool,todoFeatureEnabled,showExpandedTodos,tipsHistory,numStartups,lastOnboardingVersion set=/hasCompletedOnboarding=true set=/bypassPermissionsModeAccepted=true set=/autoUpdates=false set=/hasAcknowledgedCostThreshold=true set=/projects/%WORKSPACE%/hasTrustDialogAccepted=true set=/projects/%WORKSPACE%/hasCompletedProjectOnboarding=true set=/projects/%WORKSPACE%/hasClaudeMdExternalIncludesApproved=true
# Helpers that print keys, hooks and status lines are commands of the host, so they are not kept.
seed    json ~/.claude/settings.json keep=model,theme,language,outputStyle,includeCoAuthoredBy,attribution,alwaysThinkingEnabled,effortLevel,spinnerTipsEnabled,cleanupPeriodDays,respectGitignore,autoMemoryEnabled set=/skipDangerousModePermissionPrompt=true set=/autoUpdatesChannel=latest
seed    copy ~/.claude/CLAUDE.md
seed    copy ~/.claude/agents
seed    copy ~/.claude/commands
seed    copy ~/.claude/skills
seed    copy ~/.claude/output-styles
seed    copy ~/.claude/rules
seed    copy ~/.claude/keybindings.json

# Conversations outlive the box; settings and instructions do not, so no box can plant them.
persist ~/.claude/projects ~/.claude/history.jsonl ~/.claude/todos ~/.claude/plans ~/.claude/file-history

# A key that can make keys outlives the box; these lines come before the allows.
deny    * api.anthropic.com/v1/organizations/** reason="it makes and lists keys of an organisation"
deny    * api.anthropic.com/api/oauth/claude_cli/create_api_key reason="it makes an API key"

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

allow   *        api.anthropic.com
allow   *        platform.claude.com/v1/oauth/**
allow   GET,HEAD platform.claude.com
allow   GET,HEAD claude.ai
# The box has placeholders only: of the key or token that is set on the host, else of its login.
secret  ANTHROPIC_API_KEY       from env          at api.anthropic.com as header x-api-key inject
secret  ANTHROPIC_AUTH_TOKEN    from env          at api.anthropic.com as bearer
secret  CLAUDE_CODE_OAUTH_TOKEN from env          at api.anthropic.com as bearer
secret  CLAUDE_LOGIN            from login claude at api.anthropic.com,platform.claude.com as bearer
