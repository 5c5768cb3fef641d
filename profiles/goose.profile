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

allow   *        api.anthropic.com
allow   *        api.openai.com
allow   *        generativelanguage.googleapis.com
allow   *        openrouter.ai/api/**
secret  ANTHROPIC_API_KEY  from env at api.anthropic.com                 as header x-api-key
secret  OPENAI_API_KEY     from env at api.openai.com                    as bearer
secret  GOOGLE_API_KEY     from env at generativelanguage.googleapis.com as header x-goog-api-key
secret  OPENROUTER_API_KEY from env at openrouter.ai                     as bearer
