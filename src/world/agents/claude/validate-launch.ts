import { type ArgumentRules, checkArguments, optionName, optionSet, remedyMap } from '../shared/check-arguments.ts'
import type { LaunchProblem, LaunchRequest } from '../../../ports/agent.ts'
import path from 'node:path'
import { readJsonFile } from '../shared/tolerant-file-reads.ts'
import { asObject } from '../shared/tolerant-json.ts'
import { configFolder } from './find-thread.ts'

/** The options of Claude Code 2.1.197 and 2.1.325 that take no value. */
const FLAGS = optionSet(
  '--allow-dangerously-skip-permissions --ax-screen-reader --bare --bg --background --brief --chrome --no-chrome',
  '-c --continue --dangerously-skip-permissions --desktop --disable-slash-commands',
  '--exclude-dynamic-system-prompt-sections --fork-session --forward-subagent-text -h --help --ide',
  '--include-hook-events --include-partial-messages --no-session-persistence -p --print --replay-user-messages',
  '--restricted --safe-mode --strict-mcp-config --tmux --verbose -v --version',
)

/** The options that take exactly one value. */
const OPTIONS_WITH_VALUE = optionSet(
  '--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file --effort',
  '--environment --fallback-model --input-format --json-schema --max-budget-usd --max-turns --model -n --name',
  '--output-format --permission-mode --permission-prompt-tool --permission-prompts --plugin-dir --plugin-url',
  '--remote-control-session-name-prefix --session-id --setting-sources --settings --system-prompt',
  '--system-prompt-file --system-prompt-snapshot',
)

/** Returns the reason why claude cannot start with this request, or null. */
export function validate(request: LaunchRequest, user: { isRoot: boolean }): LaunchProblem | null {
  return checkArguments(request.argv.slice(1), ARGUMENT_RULES) ?? (user.isRoot ? checkRoot(request) : null)
}

/** This is claude's own rule, which oneshot must not bypass: claude exits at once, before any output. */
function checkRoot({ autonomy, env }: LaunchRequest): LaunchProblem | null {
  if (autonomy !== 'full' || isDeclaredSandbox(env)) return null
  return {
    problem: 'claude refuses to work with full autonomy as root, unless a variable says that it is in a sandbox',
    remedy:
      'if this machine is a sandbox or a container: --env IS_SANDBOX=1; else --autonomy edits, or run it as an ordinary user',
  }
}

const ARGUMENT_RULES: ArgumentRules = {
  nameOf: optionName,
  none: FLAGS,
  one: OPTIONS_WITH_VALUE,
  others: 'several', // An unknown option may take any number of words, as some known ones do.
  remedyFor: option => REMEDIES.get(option),
  problemWith: option => `claude cannot be given ${option} here`,
  toWord: checkWord,
}

function checkWord(word: string): LaunchProblem | null {
  if (word === '--') return null // Our own arguments precede it.
  return { problem: `“${word}” would become part of every message to claude`, remedy: 'put it into the prompt' }
}

const REMEDIES = remedyMap(
  [
    '-c --continue -r --resume --session-id --fork-session --from-pr --teleport',
    'leave it out; oneshot begins and resumes conversations, and oneshot send continues one',
  ],
  ['-p --print --verbose', 'leave it out; it is always given'],
  ['--output-format', 'leave it out; its output is read as stream-json'],
  ['--input-format', 'leave it out; its prompt is given as text'],
  ['--no-session-persistence', 'leave it out; a conversation that is not saved cannot be resumed'],
  ['-w --worktree --tmux', 'leave it out; it would begin another with every attempt'],
  [
    '--bg --background --cloud --desktop --remote-control',
    'leave it out: oneshot supervises only the process that it has started',
  ],
  ['-h --help -v --version', 'run claude itself for that'],
)

/**
 * Decides if claude takes this machine for a sandbox. Claude Code 2.1.197 and 2.1.325 accept `IS_SANDBOX` only as `1`,
 * and read it from the user's own settings too; bubblewrap's variable may hold any word for yes.
 */
function isDeclaredSandbox(env: Readonly<Record<string, string>>): boolean {
  if (env['IS_SANDBOX'] === '1' || /^(1|true|yes|on)$/i.test(env['CLAUDE_CODE_BUBBLEWRAP'] ?? '')) return true
  const settings = readJsonFile(path.join(configFolder(env), 'settings.json'))
  return asObject(settings?.['env'])['IS_SANDBOX'] === '1'
}
