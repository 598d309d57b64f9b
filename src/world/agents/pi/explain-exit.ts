import { explainByStderr } from '../shared/failed-turn.ts'
import { LOGIN_REMEDY } from './failure.ts'

/** Explains an exit of pi before it had a turn to end. */
export const explainExit = explainByStderr([
  // Without a person to ask, pi answers no and exits 0 without work: the thread belongs to another working directory.
  { sign: /Fork this session into current directory/, kind: 'thread-lost' },
  { sign: /No session found matching|Session file is not a valid/, kind: 'thread-lost' },
  {
    sign: /No API key found|No models available|No model selected|Authentication failed for/,
    kind: 'login',
    remedy: LOGIN_REMEDY,
  },
  {
    sign: /^Error: (?:Model ".*" not found|Unknown provider)/,
    kind: 'setup',
    remedy: 'pi --list-models shows what it knows',
  },
  { sign: /^Error: .*(?:Unknown option|Invalid mode| requires | cannot be combined )/, kind: 'setup' },
  {
    sign: /^Error: Failed to load extension/,
    kind: 'setup',
    remedy: 'repair the extension, or run pi without extensions: -ne',
  },
  { sign: /^Stored session working directory does not exist/, kind: 'setup' },
  // pi 0.87 on Node 20: pi needs Node 22.19 and fails at a missing export.
  {
    sign: /^SyntaxError: The requested module .* does not provide an export/,
    kind: 'setup',
    remedy: 'pi does not start with this version of Node; pi 0.87 needs 22.19 or newer',
  },
])
