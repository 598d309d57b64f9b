import { optionSet } from '../own-arguments.ts'

/** The options of 2.1.197 and 2.1.325 that take no word after them. */
export const ALONE = optionSet(
  '--allow-dangerously-skip-permissions --ax-screen-reader --bare --bg --background --brief --chrome --no-chrome',
  '-c --continue --dangerously-skip-permissions --desktop --disable-slash-commands',
  '--exclude-dynamic-system-prompt-sections --fork-session --forward-subagent-text -h --help --ide',
  '--include-hook-events --include-partial-messages --no-session-persistence -p --print --replay-user-messages',
  '--restricted --safe-mode --strict-mcp-config --tmux --verbose -v --version',
)

/** Those that take exactly one. */
export const TAKE_ONE_WORD = optionSet(
  '--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file --effort',
  '--environment --fallback-model --input-format --json-schema --max-budget-usd --max-turns --model -n --name',
  '--output-format --permission-mode --permission-prompt-tool --permission-prompts --plugin-dir --plugin-url',
  '--remote-control-session-name-prefix --session-id --setting-sources --settings --system-prompt',
  '--system-prompt-file --system-prompt-snapshot',
)
