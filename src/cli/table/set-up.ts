import type { Command } from './command.ts'
import { choice, text } from './kinds.ts'
import { OPTIONS } from './options.ts'

const NOTIFY_ACTIONS = ['list', 'test'] as const
const CONFIG_ACTIONS = ['list', 'get', 'path'] as const
export const SHELLS = ['bash', 'zsh', 'fish'] as const

export const CONFIG: Command = {
  name: 'config',
  group: 'Set-up',
  summary: 'show the effective configuration and where it comes from',
  about: 'See oneshot help config for the keys and the files.',
  arguments: [
    { kind: choice('ACTION', CONFIG_ACTIONS), summary: `${CONFIG_ACTIONS.join(', ')}; list unless given` },
    { kind: text('KEY', 'config-keys'), summary: 'the key to get' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['config'], says: 'all keys with their origin' },
    { argv: ['config', 'get', 'agent'], says: 'one value' },
    { argv: ['config', 'path'], says: 'the files that are read' },
  ],
}

export const NOTIFY: Command = {
  name: 'notify',
  group: 'Set-up',
  summary: 'show and test the channels you are told by',
  about: `Channels are tables in your own config file, such as [notify.phone]: desktop, bell, ntfy,
telegram, slack, discord, webhook, email, openclaw, or any command. You are told when a
session is done, failed, was given up or stopped by a limit, waits for you, rests for a
limit, or restarts too often. test exits with 1 when a channel does not work.`,
  arguments: [
    { kind: choice('ACTION', NOTIFY_ACTIONS), summary: `${NOTIFY_ACTIONS.join(', ')}; list unless given` },
    { kind: text('CHANNEL', 'channels'), summary: 'the channel to test; all of them unless given' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['notify'], says: 'the channels, what waits for them and what failed' },
    { argv: ['notify', 'test', 'phone'], says: 'send a test to one of them' },
  ],
}

export const COMPLETION: Command = {
  name: 'completion',
  group: 'Set-up',
  summary: 'print a completion script for your shell',
  arguments: [{ kind: choice('SHELL', SHELLS), summary: SHELLS.join(', '), isRequired: true }],
  options: [],
  examples: [
    { argv: ['completion', 'bash'], shell: '> ~/.local/share/bash-completion/completions/oneshot', says: 'bash' },
    { argv: ['completion', 'zsh'], shell: '> ~/.zfunc/_oneshot', says: 'zsh; ~/.zfunc must be in fpath' },
    { argv: ['completion', 'fish'], shell: '> ~/.config/fish/completions/oneshot.fish', says: 'fish' },
  ],
}

export const DEMO: Command = {
  name: 'demo',
  group: 'Set-up',
  summary: 'kill agent, supervisor and tmux, and see the work finish',
  arguments: [],
  options: [OPTIONS.keep],
  examples: [{ argv: ['demo'], says: 'real work on the built-in demo agent; no account, no network' }],
}

export const HELP: Command = {
  name: 'help',
  group: 'Set-up',
  summary: 'show help on a command or a topic',
  arguments: [{ kind: text('TOPIC', 'topics'), summary: 'a command, exit-codes, environment or config' }],
  options: [],
  examples: [
    { argv: ['help', 'run'], says: 'a command' },
    { argv: ['help', 'exit-codes'], says: 'a topic' },
  ],
}

export const VERSION_COMMAND: Command = {
  name: 'version',
  group: 'Set-up',
  summary: 'print the version',
  arguments: [],
  options: [OPTIONS.json],
  examples: [{ argv: ['version', '--json'], says: 'with those of Node and the system' }],
}

/** What the completion scripts call at each press of the tab key. */
export const COMPLETE: Command = {
  name: '__complete',
  group: null,
  summary: 'answer a completion script',
  arguments: [{ kind: text('WORD'), summary: 'what was typed so far', isRepeated: true }],
  options: [],
  examples: [{ argv: ['__complete', '--', 'stop', 'fix'], says: 'sessions that begin with fix' }],
}
