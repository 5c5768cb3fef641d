extends default
about   Gemini CLI by Google
command gemini
install npm install -g @google/gemini-cli
args    --yolo
resume  ~/.gemini/tmp/*/chats --resume latest
env     GEMINI_SANDBOX=false GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true
pass    GEMINI_MODEL GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION GOOGLE_GENAI_USE_VERTEXAI
pass    GOOGLE_GEMINI_BASE_URL

# The keys of settings.json that name commands or servers of the host are left behind.
seed    json ~/.gemini/settings.json keep=general,ui,model,context,output,ide,privacy set=/general/enableAutoUpdate=false set=/general/enableAutoUpdateNotification=false set=/general/disableAutoUpdate=true set=/security/folderTrust/enabled=false set=/security/auth/selectedType=gemini-api-key set=/tools/sandbox=false set=/ide/hasSeenNudge=true
seed    json ~/.gemini/trustedFolders.json keep= set=/%WORKSPACE%=TRUST_FOLDER
seed    copy ~/.gemini/GEMINI.md
seed    copy ~/.gemini/commands
seed    copy ~/.gemini/skills

persist ~/.gemini/tmp ~/.gemini/history ~/.gemini/projects.json

# A key that can make keys outlives the box; these lines come before the allows.
deny    * generativelanguage.googleapis.com/*/auth_tokens reason="it makes a token"

# What the provider fetches for the box goes past the door. Somebody is asked; to let it pass for good,
# allow the same line (the refusal prints it).
ask     POST generativelanguage.googleapis.com/** json:/tools/*/googleSearch=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/google_search=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/googleSearchRetrieval=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/google_search_retrieval=* reason="the provider would search the web for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/urlContext=* reason="the provider would fetch pages for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/tools/*/url_context=* reason="the provider would fetch pages for the box, past the door"
ask     POST generativelanguage.googleapis.com/** json:/contents/*/parts/*/fileData/fileUri=http* reason="the provider would fetch what the URL names, past the door"
ask     POST generativelanguage.googleapis.com/** json:/contents/*/parts/*/file_data/file_uri=http* reason="the provider would fetch what the URL names, past the door"
ask     POST aiplatform.googleapis.com/** json:/tools/*/googleSearch=* reason="the provider would search the web for the box, past the door"
ask     POST aiplatform.googleapis.com/** json:/tools/*/google_search=* reason="the provider would search the web for the box, past the door"
ask     POST aiplatform.googleapis.com/** json:/tools/*/googleSearchRetrieval=* reason="the provider would search the web for the box, past the door"
ask     POST aiplatform.googleapis.com/** json:/tools/*/google_search_retrieval=* reason="the provider would search the web for the box, past the door"
ask     POST aiplatform.googleapis.com/** json:/tools/*/urlContext=* reason="the provider would fetch pages for the box, past the door"
ask     POST aiplatform.googleapis.com/** json:/tools/*/url_context=* reason="the provider would fetch pages for the box, past the door"
ask     POST aiplatform.googleapis.com/** json:/contents/*/parts/*/fileData/fileUri=http* reason="the provider would fetch what the URL names, past the door"
ask     POST aiplatform.googleapis.com/** json:/contents/*/parts/*/file_data/file_uri=http* reason="the provider would fetch what the URL names, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/tools/*/googleSearch=* reason="the provider would search the web for the box, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/tools/*/google_search=* reason="the provider would search the web for the box, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/tools/*/googleSearchRetrieval=* reason="the provider would search the web for the box, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/tools/*/google_search_retrieval=* reason="the provider would search the web for the box, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/tools/*/urlContext=* reason="the provider would fetch pages for the box, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/tools/*/url_context=* reason="the provider would fetch pages for the box, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/contents/*/parts/*/fileData/fileUri=http* reason="the provider would fetch what the URL names, past the door"
ask     POST cloudcode-pa.googleapis.com/** json:/request/contents/*/parts/*/file_data/file_uri=http* reason="the provider would fetch what the URL names, past the door"

allow   *        generativelanguage.googleapis.com
allow   *        cloudcode-pa.googleapis.com
allow   *        aiplatform.googleapis.com
allow   POST     oauth2.googleapis.com/token
secret  GEMINI_API_KEY from env at generativelanguage.googleapis.com as header x-goog-api-key,query key inject
secret  GOOGLE_API_KEY from env at generativelanguage.googleapis.com,aiplatform.googleapis.com as header x-goog-api-key,query key inject
