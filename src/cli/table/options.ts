import { AUTONOMY_LEVELS } from '../../api/config/keys.ts'
import { SAVING_MODES } from '../../api/config/saving-keys.ts'
import { AGENT_KINDS } from '../../api/contract/agent-kinds.ts'
import { MECHANISMS } from '../../world/os/boot/mechanism.ts'
import type { Option } from './command.ts'
import {
  ASSIGNMENT,
  choice,
  COMMAND,
  COUNT,
  DOLLARS,
  DURATION,
  FLAG,
  type Kind,
  LIMIT,
  LINES,
  MEMORY,
  MOMENT,
  NUMBER,
  ORDINAL,
  RENEWAL,
  text,
  WAIT,
  WIDTH,
  word,
} from './kinds.ts'

/** Every option of every command. An option means the same wherever it is accepted. */
export const OPTIONS = {
  help: flag('help', 'show this help', 'h'),
  version: flag('version', 'print the version'),
  color: option('color', choice('WHEN', ['auto', 'always', 'never']), 'when to use colours'),
  noInput: flag('no-input', 'never ask a question'),
  quiet: flag('quiet', 'print only names, or nothing where there are none', 'q'),
  config: {
    ...option('config', text('KEY=VALUE', 'config-keys'), 'set a config key for this call', 'c'),
    isRepeated: true,
  },

  json: flag('json', 'print JSON, errors included'),
  yes: flag('yes', 'do not ask', 'y'),
  dryRun: flag('dry-run', 'only tell what would be done'),
  timeout: option('timeout', DURATION, 'stop waiting after this time, with exit code 124'),
  exitStatus: flag('exit-status', "exit with the outcome's code, as `wait` does"),

  agent: option('agent', agentKind(), 'the agent to give the prompt to'),
  name: option('name', text('NAME'), 'the task’s name: lower case, digits and hyphens'),
  cwd: option('cwd', text('DIR', 'folders'), 'where to work; this directory unless given'),
  moved: option('cwd', text('DIR', 'folders'), 'where its project is now, if it was moved'),
  promptFile: option('prompt-file', text('FILE', 'files'), 'read the prompt from a file, or from stdin with -'),
  tty: flag('tty', 'run on a terminal of its own (usual for commands)'),
  headless: flag('headless', 'run without a terminal (usual for agents)'),
  env: { ...option('env', ASSIGNMENT, 'set a variable for the work, beside yours'), isRepeated: true },
  renew: {
    ...option('env', RENEWAL, 'set a variable anew; a name alone takes its value here'),
    isRepeated: true,
  },
  wholeTime: option('max-time', LIMIT, 'stop the loop after this time (no limit)'),
  maxTime: option('max-time', LIMIT, 'stop the work after this time; none for no limit (5h)'),
  restart: option('restart', choice('WHEN', ['never', 'on-failure']), 'never, or also when a command fails'),
  maxRestarts: option('max-restarts', NUMBER, 'give up after so many restarts within the window (10)'),
  silence: option('silence', LIMIT, 'without a sign of life for this long it is hung; none: never'),
  limitWait: option('limit-wait', WAIT, 'wait for a usage limit at most so long; off, none (24h)'),
  memory: option('memory', MEMORY, 'end it when its processes use more, such as 4G'),
  checkpoints: option('checkpoints', choice('MODE', SAVING_MODES), 'where to save the work: ref, branch, off (ref)'),
  push: option('push', word('REMOTE'), 'push the checkpoints to this git remote as well'),
  autonomy: option('autonomy', choice('LEVEL', AUTONOMY_LEVELS), 'what it may do unasked: anything, edit files, look'),
  model: option('model', word('MODEL'), 'the agent’s own name for a model'),
  effort: option('effort', word('LEVEL'), 'the agent’s own word for how hard it thinks'),
  budgetUsd: option('budget-usd', DOLLARS, 'stop it when it has cost this much'),
  budgetTokens: option('budget-tokens', COUNT, 'stop it after so many tokens, such as 500k or 2M'),
  maxTurns: option('max-turns', ORDINAL, 'stop it after so many answers of the model'),
  thread: option('thread', word('ID'), 'go on with a conversation the agent has had before'),
  verify: option('verify', word('LINE'), 'it is done only if this passes: a line for sh'),
  verifyGit: flag('verify-git', 'it is done only if git shows work'),
  onExit: option('on-exit', COMMAND, 'run this when it has ended, without a shell'),
  onExitShell: option('on-exit-shell', text('LINE'), 'the same for a line that sh is to read'),
  follow: flag('follow', 'show the output until the work has ended', 'f'),

  prd: option('prd', text('FILE', 'files'), 'the list of tasks; the one that is found unless given'),
  noVerify: flag('no-verify', 'run nothing to check the work; git alone must show it'),
  setup: option('setup', word('LINE'), 'makes a fresh worktree ready to work in, such as npm ci'),
  maxIterations: option('max-iterations', ORDINAL, 'stop after so many iterations; no limit unless given'),
  retries: option('retries', ORDINAL, 'the same failure so often in a row sets a task aside (3)'),
  once: flag('once', 'one iteration, and no more'),
  task: option('task', word('N'), 'only this task: its number in the list, or its id'),
  parallel: option('parallel', WIDTH, 'several tasks at a time, each in a git worktree of its own (3)'),
  land: flag('land', 'when all is done, bring it into what you have checked out'),
  planOnly: flag('plan-only', 'write the plan, and no more'),
  watch: flag('watch', 'redraw it as it changes, until the loop has ended', 'w'),

  file: option('file', text('FILE', 'files'), 'read the text from a file, or from stdin with -'),
  full: option('full', ORDINAL, 'only message N, with its whole text'),

  branch: option('branch', word('BRANCH'), 'the new branch; oneshot/NAME-N unless given'),
  worktree: option('worktree', text('DIR', 'folders'), 'also check it out, in a new worktree'),
  restoreHere: flag('here', 'into this working tree, after saving what is there'),
  stat: flag('stat', 'only which files changed, and by how much'),
  from: option('from', word('REMOTE'), 'fetch the session’s checkpoints from this git remote first'),
  dropCheckpoints: flag('checkpoints', 'remove their checkpoints from git as well'),

  all: flag('all', 'those who have worked for a loop, too', 'a'),
  live: flag('live', 'only sessions that have not ended'),
  here: flag('here', 'only sessions of this directory'),
  output: option('output', choice('FORMAT', ['wide']), 'wide adds COST, PID, CWD, ID and THREAD', 'o'),
  noHeaders: flag('no-headers', 'leave out the header line'),
  noTrunc: flag('no-trunc', 'do not cut lines to the terminal’s width'),

  lines: option('lines', LINES, 'only the last N lines', 'n'),
  since: option('since', MOMENT, 'only what was written since then'),
  raw: flag('raw', 'exactly the bytes that were written'),
  attempt: option('attempt', ORDINAL, 'only this attempt'),

  readOnly: flag('read-only', 'look without typing', 'r'),
  noResume: flag('no-resume', 'hold everything that is not alive until you resume it'),
  noWait: flag('no-wait', 'return at once'),
  olderThan: option('older-than', DURATION, 'only sessions that ended at least this long ago'),
  fix: flag('fix', 'repair what can be repaired safely'),
  with: option('with', choice('WAY', MECHANISMS), 'how to be started; the best that works here unless given'),
  checkLine: option('check', word('LINE'), 'the check: a line that sh is to read'),
  noCheck: flag('no-check', 'run no check'),
  checkLimit: option('check-limit', DURATION, 'end the check after this time (15m)'),
  check: flag('check', 'only tell whether there is something new'),
  keep: flag('keep', 'leave the demo’s state folder in place to look at'),
} as const

/** Accepted by every command, before or after its name. */
export const GLOBAL_OPTIONS: readonly Option<unknown>[] = [
  OPTIONS.help,
  OPTIONS.version,
  OPTIONS.color,
  OPTIONS.noInput,
  OPTIONS.quiet,
  OPTIONS.config,
]

function option<T>(name: string, kind: Kind<T>, summary: string, short?: string): Option<T> {
  return short === undefined ? { name, kind, summary } : { name, kind, summary, short }
}

function flag(name: string, summary: string, short?: string): Option<true> {
  return option(name, FLAG, summary, short)
}

/** Any text is read: an unknown agent is refused later, with a code of its own. */
function agentKind(): Kind<string> {
  return { ...text('AGENT'), choices: AGENT_KINDS }
}
