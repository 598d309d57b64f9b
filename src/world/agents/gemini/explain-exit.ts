import { explainByStderr } from '../shared/failed-turn.ts'
import { LOGIN_REMEDY } from './failure.ts'

/** Explains an exit of gemini before it had a turn to end. */
export const explainExit = explainByStderr([
  // gemini 0.61.0 can neither begin nor resume a thread that it began without any message; oneshot must abandon it.
  { sign: /Session ID .{0,200} already exists/, kind: 'thread-lost' },
  { sign: /Invalid session identifier|No previous sessions found/, kind: 'thread-lost' },
  {
    sign: /GEMINI_API_KEY environment variable|set an Auth method|login required/i,
    kind: 'login',
    remedy: LOGIN_REMEDY,
  },
  { sign: /^Unknown arguments?:|^Invalid values:/, kind: 'setup' },
  {
    sign: /not running in a trusted directory/,
    kind: 'untrusted',
    text: 'this folder is not trusted by gemini: its settings could start programs',
    remedy: 'start gemini in it once and trust the folder, or use --autonomy full',
  },
])
