import type { Command } from './command.ts'
import { choice, text } from './kinds.ts'
import { OPTIONS } from './options.ts'

const NOTIFY_ACTIONS = ['list', 'test'] as const
const CONFIG_ACTIONS = ['list', 'get', 'set', 'unset', 'edit', 'path'] as const
export const SHELLS = ['bash', 'zsh', 'fish'] as const

export const CONFIG: Command = {
  name: 'config',
  group: 'Set-up',
  summary: 'show and change the configuration',
  about: `Without an action it shows every key with its value and where that comes from. set and
unset change your own file, edit opens it in $VISUAL or $EDITOR. See oneshot help config
for the keys and the files.`,
  arguments: [
    { kind: choice('ACTION', CONFIG_ACTIONS), summary: `${CONFIG_ACTIONS.join(', ')}; list unless given` },
    { kind: text('KEY', 'config-keys'), summary: 'the key to get, set or unset' },
    { kind: text('VALUE'), summary: 'its new value' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['config'], says: 'all keys with their origin' },
    { argv: ['config', 'get', 'agent'], says: 'one value' },
    { argv: ['config', 'set', 'autonomy', 'edits'], says: 'in your own file' },
    { argv: ['config', 'path'], says: 'the files that are read' },
  ],
}

export const NOTIFY: Command = {
  name: 'notify',
  group: 'Set-up',
  summary: 'show and test notifications',
  about: `Channels are tables in your own config file, such as [notify.phone]: desktop, bell, ntfy,
telegram, slack, discord, webhook, email, openclaw, or any command. oneshot sends a
notification when a session is done, failed, gave up, was stopped by a limit, waits for
you, rests for a limit, or restarts too often. test exits with 1 when a channel fails.`,
  arguments: [
    { kind: choice('ACTION', NOTIFY_ACTIONS), summary: `${NOTIFY_ACTIONS.join(', ')}; list unless given` },
    { kind: text('CHANNEL', 'channels'), summary: 'the channel to test; all of them unless given' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['notify'], says: 'the channels, what is pending and what failed' },
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
