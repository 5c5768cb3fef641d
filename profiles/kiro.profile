extends default
about   Kiro CLI by AWS
command kiro-cli
install see https://kiro.dev/docs/cli (it puts kiro-cli into ~/.local/bin)
args    chat --trust-all-tools
pass    AWS_REGION AWS_DEFAULT_REGION

# MCP settings hold keys and are not copied; the login lies in a database that is not copied either.
seed    json ~/.kiro/settings/cli.json keep=chat.defaultModel,chat.defaultAgent,chat.greeting.enabled,chat.editMode,introspect.tangentMode set=/app.disableAutoupdates=true set=/telemetry.enabled=false
seed    copy ~/.kiro/steering
seed    copy ~/.kiro/prompts

persist ~/.kiro/sessions

allow   *        q.us-east-1.amazonaws.com
allow   *        codewhisperer.us-east-1.amazonaws.com
allow   *        oidc.us-east-1.amazonaws.com
allow   *        prod.us-east-1.auth.desktop.kiro.dev
