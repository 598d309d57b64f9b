import type { Story } from '../../src/testkit/memory/story.ts'

const HAPPY: Story = {
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

/** A program nobody listens to: its exit code is its answer. */
const MUTE: Story = {
  spec: { agent: 'mute' },
  program: { run: () => [{ say: 'hello\n' }, { wait: 500 }, { exit: 3 }] },
}

/** It dies twice: once in the middle of its work, once by refusing to start. The third life finishes. */
const CRASHING: Story = {
  spec: { agent: 'talker' },
  program: {
    run: ({ start, argv }) => {
      if (start === 1) return [{ say: 'thread: t-1\nI begin\nhalf a wo' }, { wait: 50 }, { die: 'SIGKILL' }]
      if (start === 2) return [{ say: 'no\n' }, { exit: 1 }]
      return [{ say: `${argv.slice(1).join(' ')}\n` }, { wait: 200 }, { say: 'done: after all\n' }]
    },
  },
}

const STOPPED: Story = {
  spec: { agent: 'talker' },
  stopAfter: 1_000,
  // Its grace runs from the moment it was asked to stop, whoever is there to see it.
  endures: 2_000,
  program: {
    run: () => [{ say: 'thread: t-1\nI begin\n' }, { litter: 'a tool' }, { wait: 100_000 }, { say: 'never\n' }],
    onInterrupt: [{ say: 'I was asked to stop\n' }, { wait: 2_000 }, { say: 'bye' }, { exit: 130 }],
  },
}

/** Neither Ctrl-C nor SIGTERM impresses it. */
const STUBBORN: Story = {
  spec: { agent: 'talker' },
  stopAfter: 1_000,
  program: { run: () => [{ say: 'I stay\n' }, { wait: Infinity }], deafTo: ['SIGINT', 'SIGTERM'] },
}

const HOPELESS: Story = {
  spec: { agent: 'talker' },
  program: { run: ({ start }) => [{ say: `life ${start}\n` }, { wait: 10 }, { exit: 1 }] },
}

/** What it leaves behind hides from the sweep, so that its successors are refused. */
const LITTERED: Story = {
  spec: { agent: 'talker' },
  program: { run: () => [{ litter: 'a daemon', hides: true }, { die: 'SIGSEGV' }] },
}

const BLOCKED: Story = {
  spec: { agent: 'talker' },
  program: {
    run: () => [{ say: 'ask: may I?\n' }, { wait: 5_000 }, { say: 'answer: yes\n' }, { wait: 10 }, { say: 'done:\n' }],
  },
}

const LATE: Story = {
  spec: { agent: 'talker', maxTime: 60_000 },
  program: { run: () => [{ say: 'I take my time\n' }, { wait: Infinity }] },
}

/** Stories in which every effect there is happens at least once. */
export const STORIES: Readonly<Record<string, Story>> = {
  'a happy run': HAPPY,
  'a command that fails': MUTE,
  'crashes and restarts': CRASHING,
  'a graceful stop': STOPPED,
  'a stop by force': STUBBORN,
  'giving up': HOPELESS,
  'refused launches': LITTERED,
  'a question and its answer': BLOCKED,
  'the time limit': LATE,
}
