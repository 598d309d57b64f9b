import type { Item } from './conversation.ts'

/** The user's own words in a text that a program sent in the user's name. */
export function userText(text: string): Item[] {
  const forwarded = forwardedUserText(text)
  if (forwarded.length > 0) return forwarded
  if (NOTES.some(pattern => pattern.test(text))) return []
  const own = text.replace(REMINDER, '')
  return own.trim() === '' ? [] : [{ kind: 'user', text: own }]
}

/** What the user said while the program was at work, where it hands that on among its own remarks. */
export function forwardedUserText(text: string): Item[] {
  return [...text.matchAll(FORWARDED)].map(([, words = '']) => ({ kind: 'user', text: words }))
}

// claude: 2.1.325 goes on with `This is how Claude Code surfaces`, 2.1.197 with `IMPORTANT: After completing`.
const FORWARDED =
  /The user sent a new message while you were working:\n([\s\S]*?)\n\n(?:This is how Claude Code surfaces|IMPORTANT: After completing)/g

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\n*/g

/** What the programs write in the user's name, from its first character on. */
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
  /^\(no content\)$/, // 2.1.197, after it was killed between a call and its result
  // opencode 1.18, after it has shortened a conversation
  /^What did we do so far\?$/,
  /^(The previous request exceeded the provider's size limit[\s\S]*)?Continue if you have next steps, or stop and ask/,
  // pi 0.73, the same
  /^The conversation history before this point was compacted/,
  // gemini 0.61
  /^<session_context>/,
]
