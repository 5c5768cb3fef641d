extends default
about   aider
command aider
install uv tool install aider-chat (or: pipx install aider-chat)
args    --yes-always --no-check-update --no-show-release-notes --analytics-disable --no-gitignore
env     AIDER_SUGGEST_SHELL_COMMANDS=true
pass    AIDER_MODEL AIDER_WEAK_MODEL AIDER_EDITOR_MODEL AIDER_EDIT_FORMAT AIDER_DARK_MODE
pass    AIDER_LIGHT_MODE AIDER_AUTO_COMMITS OPENAI_API_BASE OLLAMA_API_BASE

# .aider.conf.yml may hold keys and is not copied; a file of that name in the project is read anyway.
seed    copy ~/.aider.model.settings.yml
seed    copy ~/.aider.model.metadata.json

allow   *        api.anthropic.com
allow   *        api.openai.com
allow   *        api.deepseek.com
allow   *        openrouter.ai/api/**
allow   GET,HEAD raw.githubusercontent.com/BerriAI/litellm/**
secret  ANTHROPIC_API_KEY  from env at api.anthropic.com as header x-api-key
secret  OPENAI_API_KEY     from env at api.openai.com    as bearer
secret  DEEPSEEK_API_KEY   from env at api.deepseek.com  as bearer
secret  OPENROUTER_API_KEY from env at openrouter.ai     as bearer
