import type { Item } from './conversation.ts'

/** Returns the user's own text from a text that a program sent in the user's name. */
export function userText(text: string): Item[] {
  const forwarded = forwardedUserText(text)
  if (forwarded.length > 0) return forwarded
  if (NOTES.some(pattern => pattern.test(text))) return []
  const own = text.replace(REMINDER, '')
  return own.trim() === '' ? [] : [{ kind: 'user', text: own }]
}

/** Returns the messages that a user sent during the work, which the program forwards among its own notes. */
export function forwardedUserText(text: string): Item[] {
  return [...text.matchAll(FORWARDED)].map(([, words = '']) => ({ kind: 'user', text: words }))
}

// claude 2.1.325 continues with `This is how Claude Code surfaces`, 2.1.197 with `IMPORTANT: After completing`.
const FORWARDED =
  /The user sent a new message while you were working:\n([\s\S]*?)\n\n(?:This is how Claude Code surfaces|IMPORTANT: After completing)/g

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\n*/g

/** Notes that programs write in the user's name; each pattern matches from the first character. */
const NOTES = [
  // codex 0.166
  /^<environment_context>/,
  /^<user_instructions>/,
  /^# AGENTS\.md instructions/,
  /^<turn_aborted>/,
  // claude 2.1
  /^\[Request interrupted by user/,
  /^<task-notification>/,
  /^<local-command-/,
  /^\(no content\)$/, // claude 2.1.197, after a kill between a call and its result
  // opencode 1.18, after it has compacted a conversation
  /^What did we do so far\?$/,
  /^(The previous request exceeded the provider's size limit[\s\S]*)?Continue if you have next steps, or stop and ask/,
  // pi 0.73, after it has compacted a conversation
  /^The conversation history before this point was compacted/,
  // gemini 0.61
  /^<session_context>/,
]
