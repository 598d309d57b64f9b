import { KEY_NAMES, KEYS } from '../../api/config/keys.ts'
import type { Example } from '../args/command-definition.ts'

/** Two examples of `run`, which the overview shows without loading the command. */
export const OVERVIEW_EXAMPLES: readonly Example[] = [
  { argv: ['run', 'fix the flaky login test'], description: 'give a prompt to your agent' },
  { argv: ['run', '--', 'pytest', 'tests/', '-v'], description: 'run any command' },
]

export interface HelpEntry {
  readonly name: string
  readonly summary: string
}

export const EXIT_CODES: readonly HelpEntry[] = [
  { name: '0', summary: 'it worked' },
  { name: '1', summary: 'it failed' },
  { name: '2', summary: 'the command line, a name, a prompt or the configuration is not acceptable' },
  {
    name: '3',
    summary: 'not found: no such session or conversation, it has ended, no supervisor runs, or nothing is proven',
  },
  { name: '4', summary: 'a person is needed: no agent is installed, or it has to log in' },
  { name: '5', summary: 'the supervisor cannot be reached' },
  { name: '6', summary: 'a conflict: the name is taken, the session is alive or done, another supervisor runs' },
  { name: '124', summary: 'the time of --timeout is over; the work continues' },
  { name: '130', summary: 'interrupted by Ctrl-C; the work continues' },
]

export const EXIT_CODE_NOTE =
  'wait, run --follow and --exit-status exit with the outcome: 0 when the work is done, otherwise the\nprogram’s exit code, 128 plus the number of the signal that killed it, or 1.'

export const ENVIRONMENT: readonly HelpEntry[] = [
  { name: 'ONESHOT_HOME', summary: 'the state folder; $XDG_STATE_HOME/oneshot or ~/.local/state/oneshot unless set' },
  { name: 'ONESHOT_CONFIG', summary: 'your config file; $XDG_CONFIG_HOME/oneshot/config.toml unless set' },
  ...KEY_NAMES.map(key => ({ name: KEYS[key].variable, summary: `config key ${key}: ${KEYS[key].summary}` })),
  { name: 'ONESHOT_DEBUG', summary: '1 shows where an error happened' },
  { name: 'NO_COLOR', summary: 'no colours; --color overrules it' },
  { name: 'CLICOLOR_FORCE', summary: 'colours even when piped, like FORCE_COLOR' },
]

export const CONFIG_FILES =
  'An option -c key=value beats the environment, which beats the project’s file (.oneshot.toml, the\nnearest from this directory upward), which beats yours (~/.config/oneshot/config.toml). Both files\nare TOML. Unknown keys are errors. Your own may also have channels, tables such as [notify.phone]: see\noneshot help notify. A project’s file may neither have those nor set on-exit; it can\nonly lower rights and limits (autonomy, max-time, memory and the like), and cannot switch off\nresilient or checkpoints. A file of another user, or above the top of the repository, does not count.'
