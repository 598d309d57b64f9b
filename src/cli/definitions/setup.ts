import type { Command } from '../args/command.ts'
import { choiceType, textType } from '../args/value-types.ts'
import { OPTIONS } from '../args/options.ts'

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
    { valueType: choiceType('ACTION', CONFIG_ACTIONS), summary: `${CONFIG_ACTIONS.join(', ')}; list unless given` },
    { valueType: textType('KEY', 'config-keys'), summary: 'the key to get, set or unset' },
    { valueType: textType('VALUE'), summary: 'its new value' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['config'], description: 'all keys with their origin' },
    { argv: ['config', 'get', 'agent'], description: 'one value' },
    { argv: ['config', 'set', 'autonomy', 'edits'], description: 'in your own file' },
    { argv: ['config', 'path'], description: 'the files that are read' },
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
    { valueType: choiceType('ACTION', NOTIFY_ACTIONS), summary: `${NOTIFY_ACTIONS.join(', ')}; list unless given` },
    { valueType: textType('CHANNEL', 'channels'), summary: 'the channel to test; all of them unless given' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['notify'], description: 'the channels, what is pending and what failed' },
    { argv: ['notify', 'test', 'phone'], description: 'send a test to one of them' },
  ],
}

export const COMPLETION: Command = {
  name: 'completion',
  group: 'Set-up',
  summary: 'print a completion script for your shell',
  arguments: [{ valueType: choiceType('SHELL', SHELLS), summary: SHELLS.join(', '), isRequired: true }],
  options: [],
  examples: [
    {
      argv: ['completion', 'bash'],
      shell: '> ~/.local/share/bash-completion/completions/oneshot',
      description: 'bash',
    },
    { argv: ['completion', 'zsh'], shell: '> ~/.zfunc/_oneshot', description: 'zsh; ~/.zfunc must be in fpath' },
    { argv: ['completion', 'fish'], shell: '> ~/.config/fish/completions/oneshot.fish', description: 'fish' },
  ],
}

export const DEMO: Command = {
  name: 'demo',
  group: 'Set-up',
  summary: 'kill agent, supervisor and tmux, and see the work finish',
  arguments: [],
  options: [OPTIONS.keep],
  examples: [{ argv: ['demo'], description: 'real work on the built-in demo agent; no account, no network' }],
}

export const HELP: Command = {
  name: 'help',
  group: 'Set-up',
  summary: 'show help on a command or a topic',
  arguments: [{ valueType: textType('TOPIC', 'topics'), summary: 'a command, exit-codes, environment or config' }],
  options: [],
  examples: [
    { argv: ['help', 'run'], description: 'a command' },
    { argv: ['help', 'exit-codes'], description: 'a topic' },
  ],
}

export const VERSION_COMMAND: Command = {
  name: 'version',
  group: 'Set-up',
  summary: 'print the version',
  arguments: [],
  options: [OPTIONS.json],
  examples: [{ argv: ['version', '--json'], description: 'with those of Node and the system' }],
}

/** The completion scripts call this command at each press of the tab key. */
export const COMPLETE: Command = {
  name: '__complete',
  group: null,
  summary: 'answer a completion script',
  arguments: [{ valueType: textType('WORD'), summary: 'what was typed so far', isRepeated: true }],
  options: [],
  examples: [{ argv: ['__complete', '--', 'stop', 'fix'], description: 'sessions that begin with fix' }],
}
