import type { Story } from '../../src/testkit/memory/story.ts'

export const HAPPY: Story = {
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
export const MUTE: Story = {
  spec: { agent: 'mute' },
  program: { run: () => [{ say: 'hello\n' }, { wait: 500 }, { exit: 3 }] },
}

/** It dies twice: once in the middle of its work, once by refusing to start. The third life finishes. */
export const CRASHING: Story = {
  spec: { agent: 'talker' },
  program: {
    run: ({ start, argv }) => {
      if (start === 1) return [{ say: 'thread: t-1\nI begin\nhalf a wo' }, { wait: 50 }, { die: 'SIGKILL' }]
      if (start === 2) return [{ say: 'no\n' }, { exit: 1 }]
      return [{ say: `${argv.slice(1).join(' ')}\n` }, { wait: 200 }, { say: 'done: after all\n' }]
    },
  },
}

export const STOPPED: Story = {
  spec: { agent: 'talker' },
  stopAfter: 1_000,
  program: {
    run: () => [{ say: 'thread: t-1\nI begin\n' }, { litter: 'a tool' }, { wait: 100_000 }, { say: 'never\n' }],
    onInterrupt: [{ say: 'I was asked to stop\n' }, { wait: 2_000 }, { say: 'bye' }, { exit: 130 }],
  },
}
