import type { ProcessStep } from '../../testkit/in-memory/scripted-process.ts'
import type { Scenario } from '../../testkit/in-memory/scenario.ts'

const DONE: readonly ProcessStep[] = [{ say: 'done: after all\n' }]

const HAPPY: Scenario = {
  spec: { agent: 'talker' },
  program: {
    run: () => [
      { say: 'thread: t-1\nI begin\n' },
      { wait: 1_000 },
      { litter: 'a tool' },
      { say: 'half a ' },
      { wait: 1_000 },
      { say: 'line\ndone: all of it' },
    ],
  },
}

/** A program without events: its exit code is its result. */
const MUTE: Scenario = {
  spec: { agent: 'mute' },
  program: { run: () => [{ say: 'hello\n' }, { wait: 500 }, { exit: 3 }] },
}

/** The agent dies twice: once during its work, once by refusing to start. The third process finishes. */
const CRASHING: Scenario = {
  spec: { agent: 'talker' },
  program: {
    run: ({ start, argv }) => {
      if (start === 1) return [{ say: 'thread: t-1\nI begin\nhalf a wo' }, { wait: 50 }, { die: 'SIGKILL' }]
      if (start === 2) return [{ say: 'no\n' }, { exit: 1 }]
      return [{ say: `${argv.slice(1).join(' ')}\n` }, { wait: 200 }, { say: 'done: after all\n' }]
    },
  },
}

/**
 * No delay between two attempts. The second leaves a process behind, which the supervisor sweeps before the third
 * starts.
 */
const AT_ONCE = { on: 'failure', limit: 9, window: 600_000, firstDelay: 0, nextDelay: 0, maxDelay: 0 } as const
const HASTY: Scenario = {
  spec: { agent: 'talker', supervision: { restart: AT_ONCE } },
  program: {
    run: ({ start, argv }) => {
      if (start === 1) return [{ say: 'thread: t-1\nI begin\nhalf a wo' }, { wait: 50 }, { die: 'SIGKILL' }]
      if (start === 2) return [{ litter: 'a tool' }, { say: 'again\n' }, { wait: 50 }, { exit: 1 }]
      if (start === 3) return [{ die: 'SIGSEGV' }]
      return [{ say: `${argv.slice(1).join(' ')}\n` }, { wait: 200 }, { say: 'done: after all\n' }]
    },
  },
}

/** A command that the supervisor restarts until it succeeds. */
const TIRELESS: Scenario = {
  spec: { agent: 'mute', supervision: { restart: AT_ONCE } },
  program: { run: ({ start }) => [{ say: `${start}\n` }, { wait: 20 }, { exit: start < 4 ? 1 : 0 }] },
}

const STOPPED: Scenario = {
  spec: { agent: 'talker' },
  stopAfter: 1_000,
  // The grace period starts at the stop, whether a supervisor runs or not.
  endures: 2_000,
  program: {
    run: () => [{ say: 'thread: t-1\nI begin\n' }, { litter: 'a tool' }, { wait: 100_000 }, { say: 'never\n' }],
    onInterrupt: [{ say: 'I was asked to stop\n' }, { wait: 2_000 }, { say: 'bye' }, { exit: 130 }],
  },
}

/** The program ignores Ctrl-C and SIGTERM. */
const STUBBORN: Scenario = {
  spec: { agent: 'talker' },
  stopAfter: 1_000,
  program: { run: () => [{ say: 'I stay\n' }, { wait: Infinity }], ignoredSignals: ['SIGINT', 'SIGTERM'] },
}

const HOPELESS: Scenario = {
  spec: { agent: 'talker' },
  program: { run: ({ start }) => [{ say: `life ${start}\n` }, { wait: 10 }, { exit: 1 }] },
}

/** A process that it leaves behind hides from the sweep, so that the shims of later attempts refuse to start. */
const LITTERED: Scenario = {
  spec: { agent: 'talker' },
  program: { run: () => [{ litter: 'a daemon', hides: true }, { die: 'SIGSEGV' }] },
}

const BLOCKED: Scenario = {
  spec: { agent: 'talker' },
  program: {
    run: () => [{ say: 'ask: may I?\n' }, { wait: 5_000 }, { say: 'answer: yes\n' }, { wait: 10 }, { say: 'done:\n' }],
  },
}

const LATE: Scenario = {
  spec: { agent: 'talker', supervision: { maxTime: 60_000 } },
  program: { run: () => [{ say: 'I take my time\n' }, { wait: Infinity }] },
}

/**
 * The agent dies before it has recorded its input, and after; then it gets the messages sent meanwhile, and one message
 * wakes it long after the end.
 */
const CONVERSATION: Scenario = {
  spec: { agent: 'scribe' },
  sends: [
    { after: 100, text: 'and this' },
    { after: 200, text: 'and that' },
    { after: 900_000, text: 'wake up' },
  ],
  program: {
    run: ({ start, argv, stdin }) => {
      const told = { say: `${argv[1]} ${argv[2]}, told: ${stdin}\n` }
      if (start === 1 || start === 4) return [{ wait: 5 }, { die: 'SIGKILL' }]
      if (start === 2) return [{ record: 't-1' }, { say: 'thread: t-1\nI read it\n' }, { wait: 500 }, { exit: 1 }]
      return [{ record: 't-1' }, { say: 'thread: t-1\n' }, told, { wait: 100 }, { say: 'done: it\n' }]
    },
  },
}

const LIMITED: Scenario = {
  spec: { agent: 'talker' },
  program: {
    run: ({ start }) => {
      if (start === 1) return [{ say: `thread: t-1\nlimit: ${Date.UTC(2026, 0, 1, 3)}\n` }, { exit: 1 }]
      return start === 2 ? [{ say: 'offline: ECONNRESET\n' }, { exit: 1 }] : DONE
    },
  },
}

/** The conversation becomes too long: a fresh thread gets a digest of the work so far. */
const OVERFLOWING: Scenario = {
  spec: { agent: 'scribe' },
  program: {
    run: ({ start, stdin }) => {
      const thread = `t-${start}`
      const begin = [{ record: thread }, { say: `thread: ${thread}\ntold: ${stdin}\n` }, { wait: 100 }]
      return start === 1 ? [...begin, { say: 'full: too long\n' }, { exit: 1 }] : [...begin, ...DONE]
    },
  },
}

/** The session has a hook; a message wakes the session once, and it ends twice. */
const HOOKED: Scenario = {
  spec: { agent: 'scribe', supervision: { onExit: ['/bin/hook', 'it'] } },
  sends: [{ after: 90_000, text: 'once more' }],
  program: { run: () => [{ record: 't-1' }, { say: 'thread: t-1\n' }, { wait: 100 }, { say: 'done: it\n' }] },
}

/** The agent plans issues of the project: each closes when it is done, the last one with the session. */
const PLANNED: Scenario = {
  spec: { agent: 'talker' },
  closes: ['bd-1', 'bd-2', 'bd-3'],
  program: {
    run: ({ start }) => [
      { say: `thread: t-1\nplan: 1 ${start > 1 ? 'done' : 'doing'} bd-1; 2 open bd-2\n` },
      { wait: 100 },
      ...(start === 1 ? [{ say: 'plan: 1 done bd-1; 2 doing bd-2\n' }, { wait: 50 }, { exit: 1 }] : []),
      { say: 'plan: 1 done bd-1; 2 done bd-2; 3 open bd-3\n' },
      { wait: 100 },
      { say: 'plan: 1 done bd-1; 2 done bd-2; 3 done bd-3\ndone: all of it\n' },
    ],
  },
}

/** Its exit code is no proof: the verifier inspects its work. */
const PROVEN: Scenario = {
  spec: { agent: 'mute', supervision: { verify: { git: true, check: null } } },
  program: { run: () => [{ say: 'all is done\n' }, { wait: 500 }, { exit: 0 }] },
  shown: {
    work: { commits: [], commitCount: 2, change: { files: 3, added: 9, removed: 1 }, files: ['a'], uncommitted: 1 },
    failures: [],
    checked: null,
  },
}
const { shown: _, ...UNPROVEN } = PROVEN

/** Scenarios that together cover every effect at least once. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a happy run': HAPPY,
  'a command that fails': MUTE,
  'crashes and restarts': CRASHING,
  'restarts at once': HASTY,
  'restarts at once where nobody can tell what is left': { ...HASTY, hasGroups: false },
  'a command that is started until it succeeds': TIRELESS,
  'a graceful stop': STOPPED,
  'a stop by force': STUBBORN,
  'giving up': HOPELESS,
  'refused launches': LITTERED,
  'a question and its answer': BLOCKED,
  'the time limit': LATE,
  'a conversation': CONVERSATION,
  'a conversation that is taken up at once': {
    ...CONVERSATION,
    spec: { agent: 'scribe', supervision: { restart: AT_ONCE } },
  },
  'a limit and an outage': LIMITED,
  'a conversation that grows too long': OVERFLOWING,
  'a hook at the end': HOOKED,
  'a plan of issues': PLANNED,
  'work that is proven': PROVEN,
  'work that is not there': UNPROVEN,
}
