#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: rules of a profile are the same whoever starts the box; both users in soak
# door_provider.sh - what a model provider would fetch for the box (MCP servers, web search and fetch, files by URL) is
# seen in the body and asked about by the rules that profiles carry; nobody there to answer means no (finding C7).
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_provider python3
mkdir -p "$work/bin"
for agent in claude codex gemini; do
	printf '#!/bin/sh\nexit 0\n' >"$work/bin/$agent"
	chmod +x "$work/bin/$agent"
	(cd "$work/ws" && PATH=$work/bin:$PATH "$ostiary" create -q --name "$agent" --profile "$agent") >"$work/made" 2>&1
	check "a box of $agent" $? "$(cat "$work/made")"
done
why() { "$ostiary" why "$1" "POST $2" --header 'Content-Type: application/json' --data "$3" 2>&1; }
asked() { # name, box, url, body
	local out
	out=$(why "$2" "$3" "$4")
	case $out in asks*"past the door"*) true ;; *) false ;; esac
	check "$1" $? "$out"
}
passes() {
	local out
	out=$(why "$2" "$3" "$4")
	case $out in allowed*) true ;; *) false ;; esac
	check "$1" $? "$out"
}
messages=https://api.anthropic.com/v1/messages
passes "an honest message" claude $messages '{"model":"m","messages":[{"role":"user","content":"mcp_servers web_fetch"}],"tools":[{"name":"Bash","input_schema":{}}]}'
passes "an image that is in it" claude $messages '{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"aaaa"}}]}]}'
passes "a tool's input that speaks of such things" claude $messages '{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"mcp_servers":[{"url":"x"}]}}]}]}'
asked "MCP servers" claude $messages '{"messages":[],"mcp_servers":[{"type":"url","url":"https://evil.test/mcp"}]}'
asked "MCP servers, another case" claude $messages '{"messages":[],"MCP_Servers":[{"url":"https://evil.test/mcp"}]}'
asked "MCP servers, escaped" claude $messages '{"messages":[],"mcp\u005fservers":[{"url":"https://evil.test/mcp"}]}'
passes "an empty list of them" claude $messages '{"messages":[],"mcp_servers":[]}'
asked "web fetch" claude $messages '{"messages":[],"tools":[{"name":"Bash"},{"type":"web_fetch_20250910","name":"web_fetch"}]}'
asked "web search" claude $messages '{"messages":[],"tools":[{"type":"web_search_20250305","name":"web_search"}]}'
asked "an image by URL" claude $messages '{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://evil.test/?q"}}]}]}'
asked "a document by URL in a tool's result" claude $messages '{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"url","url":"https://evil.test/?q"}}]}]}]}'
asked "in a batch" claude $messages/batches '{"requests":[{"custom_id":"1","params":{"messages":[],"mcp_servers":[{"url":"https://evil.test/"}]}}]}'
asked "with the path in capitals" claude https://api.anthropic.com/V1/Messages '{"mcp_servers":[{"url":"https://evil.test/"}]}'

responses=https://api.openai.com/v1/responses
passes "an honest response" codex $responses '{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"x"}]}],"tools":[{"type":"function","name":"shell"}]}'
passes "an image that is in it (Responses)" codex $responses '{"input":[{"content":[{"type":"input_image","image_url":"data:image/png;base64,aaaa"}]}]}'
asked "an MCP server (Responses)" codex $responses '{"tools":[{"type":"mcp","server_url":"https://evil.test/"}]}'
asked "web search (Responses)" codex $responses '{"tools":[{"type":"web_search_preview"}]}'
asked "the same for a login" codex https://chatgpt.com/backend-api/codex/responses '{"tools":[{"type":"web_search"}]}'
asked "a file by URL (Responses)" codex $responses '{"input":[{"content":[{"type":"input_file","file_url":"https://evil.test/?q"}]}]}'
asked "an image by URL (Chat)" codex https://api.openai.com/v1/chat/completions '{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://evil.test/?q"}}]}]}'
asked "web search (Chat)" codex https://api.openai.com/v1/chat/completions '{"messages":[],"web_search_options":{}}'

generate=https://generativelanguage.googleapis.com/v1beta/models/m:generateContent
passes "an honest generation" gemini $generate '{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[]}]}'
asked "Google search" gemini $generate '{"contents":[],"tools":[{"googleSearch":{}}]}'
asked "Google search, the other spelling" gemini $generate '{"contents":[],"tools":[{"google_search":{}}]}'
asked "URL context" gemini $generate '{"contents":[],"tools":[{"urlContext":{}}]}'
asked "a file by URL (Gemini)" gemini $generate '{"contents":[{"parts":[{"fileData":{"fileUri":"https://evil.test/?q"}}]}]}'
asked "the same by Code Assist" gemini https://cloudcode-pa.googleapis.com/v1internal:generateContent '{"request":{"tools":[{"googleSearch":{}}]}}'

"$ostiary" allow claude 'POST api.anthropic.com/v1/messages** json:/tools/*/type=web_search*' >/dev/null
check "which a user can allow" $?
passes "and then it passes" claude $messages '{"messages":[],"tools":[{"type":"web_search_20250305","name":"web_search"}]}'
asked "that alone" claude $messages '{"messages":[],"tools":[{"type":"web_fetch_20250910"}]}'
exit "$bad"
