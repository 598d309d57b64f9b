import { AGENT_KINDS } from '../../api/contract/known-agents.ts'
import { DISPLAY_STATES } from '../../views/describe-session.ts'
import { BOOT_MANAGERS } from '../../world/boot/manager-names.ts'
import { flag, type Option, valueOption } from './command-definition.ts'
import { RUN_OPTIONS } from './run-options.ts'
import {
  ASSIGNMENT,
  choiceType,
  DURATION,
  type ValueType,
  DURATION_OR_NONE,
  LINE_COUNT,
  TIME,
  NON_NEGATIVE_INTEGER,
  POSITIVE_INTEGER,
  ENV_CHANGE,
  TASK_NAME,
  textType,
  PARALLELISM,
  wordType,
} from './value-types.ts'

/** Every option of every command. An option has the same meaning in all commands that accept it. */
export const OPTIONS = {
  help: flag('help', 'show this help', 'h'),
  version: flag('version', 'print the version'),
  color: valueOption('color', choiceType('WHEN', ['auto', 'always', 'never']), 'when to use colours'),
  noInput: flag('no-input', 'never ask a question'),
  quiet: flag('quiet', 'print only names, or nothing', 'q'),
  config: {
    ...valueOption('config', textType('KEY=VALUE', 'config-keys'), 'set a config key for this call', 'c'),
    isRepeated: true,
  },

  json: flag('json', 'print JSON, errors included'),
  yes: flag('yes', 'do not ask', 'y'),
  dryRun: flag('dry-run', 'only say what would be done'),
  timeout: valueOption('timeout', DURATION, 'stop waiting after this time, with exit code 124'),
  exitStatus: flag('exit-status', "exit with the outcome's code, as `wait` does"),

  agent: valueOption('agent', agentKind(), 'the agent to give the prompt to'),
  name: valueOption('name', TASK_NAME, 'the task’s name: lower case, digits and hyphens'),
  cwd: valueOption('cwd', textType('DIR', 'folders'), 'where to work; this directory unless given'),
  movedTo: valueOption('cwd', textType('DIR', 'folders'), 'where its project is now, if it was moved'),
  promptFile: valueOption(
    'prompt-file',
    textType('FILE', 'files'),
    'read the prompt from a file, or from stdin with -',
  ),
  tty: flag('tty', 'run on a terminal of its own (usual for commands)'),
  headless: flag('headless', 'run without a terminal (usual for agents)'),
  env: { ...valueOption('env', ASSIGNMENT, 'set a variable for the work'), isRepeated: true },
  envChange: {
    ...valueOption('env', ENV_CHANGE, 'change a variable; a name alone takes its value from here'),
    isRepeated: true,
  },
  loopMaxTime: valueOption('max-time', DURATION_OR_NONE, 'stop the loop after this time (no limit)'),
  ...RUN_OPTIONS,
  follow: flag('follow', 'show the output until the work has ended', 'f'),

  followLog: flag('follow', 'log: show new lines as they come', 'f'),
  prd: valueOption('prd', textType('FILE', 'files'), 'the list of tasks; found by itself unless given'),
  noVerify: flag('no-verify', 'run no check; a change in git is enough'),
  protect: valueOption('protect', wordType('PATH'), 'no agent may change this file, folder or pattern; repeatable'),
  allow: valueOption('allow', wordType('PATH'), 'agents may remove or change tests and checks here; repeatable'),
  setup: valueOption('setup', wordType('LINE'), 'prepares a fresh worktree, such as npm ci'),
  maxIterations: valueOption(
    'max-iterations',
    POSITIVE_INTEGER,
    'stop after so many iterations; no limit unless given',
  ),
  maxAdded: valueOption(
    'max-added',
    NON_NEGATIVE_INTEGER,
    'work on at most so many tasks that agents add to the list (10)',
  ),
  retries: valueOption('retries', POSITIVE_INTEGER, 'block a task after the same failure N times (3)'),
  once: flag('once', 'one iteration, and no more'),
  discardWork: flag('fresh', 'retry: begin the task anew, without its earlier work'),
  task: valueOption('task', wordType('N'), 'only this task: its number in the list, or its id'),
  parallel: valueOption('parallel', PARALLELISM, 'several tasks at a time, each in a git worktree of its own (3)'),
  land: flag('land', 'when all is done, merge it into your checkout'),
  squash: flag('squash', 'land: all of it as one commit'),
  planOnly: flag('plan-only', 'write the plan, and no more'),
  watch: flag('watch', 'redraw it as it changes, until the loop has ended', 'w'),

  file: valueOption('file', textType('FILE', 'files'), 'read the text from a file, or from stdin with -'),
  full: valueOption('full', POSITIVE_INTEGER, 'only message N, with its whole text'),

  branch: valueOption('branch', wordType('BRANCH'), 'the new branch; oneshot/NAME-N unless given'),
  worktree: valueOption('worktree', textType('DIR', 'folders'), 'also check it out, in a new worktree'),
  restoreHere: flag('here', 'into this working tree, after saving what is there'),
  stat: flag('stat', 'only which files changed, and by how much'),
  from: valueOption('from', wordType('REMOTE'), 'fetch the session’s checkpoints from this git remote first'),
  takeOver: flag('take-over', 'take it from a machine that claimed it and is lost'),
  dropCheckpoints: flag('checkpoints', 'remove their checkpoints from git as well'),

  all: flag('all', 'all ended sessions, those of loops included', 'a'),
  limit: valueOption('limit', NON_NEGATIVE_INTEGER, 'so many ended sessions (20)'),
  endedSince: valueOption('since', TIME, 'only those ended sessions that ended since then'),
  live: flag('live', 'only sessions that have not ended'),
  here: flag('here', 'only sessions of this directory'),
  state: valueOption('state', choiceType('STATE', DISPLAY_STATES), 'only sessions in this state'),
  watchList: flag('watch', 'redraw the list as it changes, until Ctrl-C', 'w'),
  field: valueOption('field', wordType('NAME'), 'print only this field of the JSON form'),
  output: valueOption('output', choiceType('FORMAT', ['wide']), 'wide adds COST, PID, CWD, ID and THREAD', 'o'),
  noHeaders: flag('no-headers', 'leave out the header line'),
  noTrunc: flag('no-trunc', 'do not cut lines to the terminal’s width'),

  lines: valueOption('lines', LINE_COUNT, 'only the last N lines', 'n'),
  tail: valueOption('tail', LINE_COUNT, 'the same as --lines'),
  since: valueOption('since', TIME, 'only what was written since then'),
  raw: flag('raw', 'exactly the bytes that were written'),
  attempt: valueOption('attempt', POSITIVE_INTEGER, 'only this attempt'),

  readOnly: flag('read-only', 'look without typing', 'r'),
  noResume: flag('no-resume', 'hold all sessions without a living process'),
  now: flag('now', 'kill it at once, without asking it to end first'),
  noWait: flag('no-wait', 'return at once'),
  olderThan: valueOption('older-than', DURATION, 'only sessions that ended at least this long ago'),
  fix: flag('fix', 'repair what can be repaired safely'),
  with: valueOption('with', choiceType('WAY', BOOT_MANAGERS), 'which mechanism; the best that works here unless given'),
  checkLine: valueOption('check', wordType('LINE'), 'the check, as a line for sh'),
  noCheck: flag('no-check', 'run no check'),
  checkLimit: valueOption('check-limit', DURATION, 'end the check after this time (15m)'),
  check: flag('check', 'only say whether there is a newer version'),
  keep: flag('keep', 'leave the demo’s state folder in place to look at'),
} as const

/** Every command accepts these options, before or after its name. */
export const GLOBAL_OPTIONS: readonly Option<unknown>[] = [
  OPTIONS.help,
  OPTIONS.version,
  OPTIONS.color,
  OPTIONS.noInput,
  OPTIONS.quiet,
  OPTIONS.config,
]

/** Accepts any text: a later check refuses an unknown agent with a code of its own. */
function agentKind(): ValueType<string> {
  return { ...textType('AGENT'), choices: AGENT_KINDS }
}
