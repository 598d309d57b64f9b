import { AUTONOMY_LEVELS } from '../../api/config/keys.ts'
import { SAVING_MODES } from '../../api/config/saving-keys.ts'
import { AGENT_KINDS } from '../../api/contract/agent-kinds.ts'
import { STATES } from '../../views/state.ts'
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
  NATURAL,
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
  quiet: flag('quiet', 'print only names, or nothing', 'q'),
  config: {
    ...option('config', text('KEY=VALUE', 'config-keys'), 'set a config key for this call', 'c'),
    isRepeated: true,
  },

  json: flag('json', 'print JSON, errors included'),
  yes: flag('yes', 'do not ask', 'y'),
  dryRun: flag('dry-run', 'only say what would be done'),
  timeout: option('timeout', DURATION, 'stop waiting after this time, with exit code 124'),
  exitStatus: flag('exit-status', "exit with the outcome's code, as `wait` does"),

  agent: option('agent', agentKind(), 'the agent to give the prompt to'),
  name: option('name', text('NAME'), 'the task’s name: lower case, digits and hyphens'),
  cwd: option('cwd', text('DIR', 'folders'), 'where to work; this directory unless given'),
  moved: option('cwd', text('DIR', 'folders'), 'where its project is now, if it was moved'),
  promptFile: option('prompt-file', text('FILE', 'files'), 'read the prompt from a file, or from stdin with -'),
  tty: flag('tty', 'run on a terminal of its own (usual for commands)'),
  headless: flag('headless', 'run without a terminal (usual for agents)'),
  env: { ...option('env', ASSIGNMENT, 'set a variable for the work'), isRepeated: true },
  renew: {
    ...option('env', RENEWAL, 'change a variable; a name alone takes its value from here'),
    isRepeated: true,
  },
  wholeTime: option('max-time', LIMIT, 'stop the loop after this time (no limit)'),
  maxTime: option('max-time', LIMIT, 'stop the work after this time; none for no limit (5h)'),
  restart: option('restart', choice('WHEN', ['never', 'on-failure']), 'never, or also when a command fails'),
  maxRestarts: option('max-restarts', NUMBER, 'give up after so many restarts within the window (10)'),
  silence: option('silence', LIMIT, 'no sign of life for this long means hung; none: never'),
  limitWait: option('limit-wait', WAIT, 'longest wait for a usage limit; off, none (24h)'),
  memory: option('memory', MEMORY, 'end it when its processes use more, such as 4G'),
  maxOutput: option('max-output', MEMORY, 'stop it when it has written more; none for no limit (1G)'),
  checkpoints: option('checkpoints', choice('MODE', SAVING_MODES), 'where to save the work: ref, branch, off (ref)'),
  push: option('push', word('REMOTE'), 'push the checkpoints to this git remote as well'),
  pushUntracked: flag('push-untracked', 'push untracked files that look like secrets, too'),
  autonomy: option('autonomy', choice('LEVEL', AUTONOMY_LEVELS), 'what it may do unasked: anything, edit files, look'),
  model: option('model', word('MODEL'), 'the agent’s own name for a model'),
  effort: option('effort', word('LEVEL'), 'how hard the agent thinks, in its own terms'),
  budgetUsd: option('budget-usd', DOLLARS, 'stop it when it has cost this much'),
  budgetTokens: option('budget-tokens', COUNT, 'stop it after so many tokens, such as 500k or 2M'),
  maxTurns: option('max-turns', ORDINAL, 'stop it after so many answers of the model'),
  thread: option('thread', word('ID'), 'continue an earlier conversation of the agent'),
  verify: option('verify', word('LINE'), 'a line for sh; the work is done only if it passes'),
  verifyGit: flag('verify-git', 'the work is done only if git shows a change'),
  onExit: option('on-exit', COMMAND, 'run this when it has ended, without a shell'),
  onExitShell: option('on-exit-shell', text('LINE'), 'the same, as a line for sh'),
  follow: flag('follow', 'show the output until the work has ended', 'f'),

  followLog: flag('follow', 'log: show new lines as they come', 'f'),
  prd: option('prd', text('FILE', 'files'), 'the list of tasks; found by itself unless given'),
  noVerify: flag('no-verify', 'run no check; a change in git is enough'),
  protect: option('protect', word('PATH'), 'no agent may change this file, folder or pattern; repeatable'),
  allow: option('allow', word('PATH'), 'agents may remove or change tests and checks here; repeatable'),
  setup: option('setup', word('LINE'), 'prepares a fresh worktree, such as npm ci'),
  maxIterations: option('max-iterations', ORDINAL, 'stop after so many iterations; no limit unless given'),
  maxAdded: option('max-added', NATURAL, 'begin so many tasks that agents add to the list (10)'),
  retries: option('retries', ORDINAL, 'block a task after the same failure N times (3)'),
  once: flag('once', 'one iteration, and no more'),
  fresh: flag('fresh', 'retry: begin the task anew, without its earlier work'),
  task: option('task', word('N'), 'only this task: its number in the list, or its id'),
  parallel: option('parallel', WIDTH, 'several tasks at a time, each in a git worktree of its own (3)'),
  land: flag('land', 'when all is done, merge it into your checkout'),
  squash: flag('squash', 'land: all of it as one commit'),
  planOnly: flag('plan-only', 'write the plan, and no more'),
  watch: flag('watch', 'redraw it as it changes, until the loop has ended', 'w'),

  file: option('file', text('FILE', 'files'), 'read the text from a file, or from stdin with -'),
  full: option('full', ORDINAL, 'only message N, with its whole text'),

  branch: option('branch', word('BRANCH'), 'the new branch; oneshot/NAME-N unless given'),
  worktree: option('worktree', text('DIR', 'folders'), 'also check it out, in a new worktree'),
  restoreHere: flag('here', 'into this working tree, after saving what is there'),
  stat: flag('stat', 'only which files changed, and by how much'),
  from: option('from', word('REMOTE'), 'fetch the session’s checkpoints from this git remote first'),
  takeOver: flag('take-over', 'take it from a machine that claimed it and is lost'),
  dropCheckpoints: flag('checkpoints', 'remove their checkpoints from git as well'),

  all: flag('all', 'also the ended sessions of loops', 'a'),
  live: flag('live', 'only sessions that have not ended'),
  here: flag('here', 'only sessions of this directory'),
  state: option('state', choice('STATE', STATES), 'only sessions in this state'),
  watchList: flag('watch', 'redraw the list as it changes, until Ctrl-C', 'w'),
  field: option('field', word('NAME'), 'print only this field of the JSON form'),
  output: option('output', choice('FORMAT', ['wide']), 'wide adds COST, PID, CWD, ID and THREAD', 'o'),
  noHeaders: flag('no-headers', 'leave out the header line'),
  noTrunc: flag('no-trunc', 'do not cut lines to the terminal’s width'),

  lines: option('lines', LINES, 'only the last N lines', 'n'),
  tail: option('tail', LINES, 'the same as --lines'),
  since: option('since', MOMENT, 'only what was written since then'),
  raw: flag('raw', 'exactly the bytes that were written'),
  attempt: option('attempt', ORDINAL, 'only this attempt'),

  readOnly: flag('read-only', 'look without typing', 'r'),
  noResume: flag('no-resume', 'hold all sessions without a living process'),
  now: flag('now', 'kill it at once, without asking it to end first'),
  noWait: flag('no-wait', 'return at once'),
  olderThan: option('older-than', DURATION, 'only sessions that ended at least this long ago'),
  fix: flag('fix', 'repair what can be repaired safely'),
  with: option('with', choice('WAY', MECHANISMS), 'which mechanism; the best that works here unless given'),
  checkLine: option('check', word('LINE'), 'the check, as a line for sh'),
  noCheck: flag('no-check', 'run no check'),
  checkLimit: option('check-limit', DURATION, 'end the check after this time (15m)'),
  check: flag('check', 'only say whether there is a newer version'),
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
