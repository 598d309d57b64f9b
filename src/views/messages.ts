import fs from 'node:fs'
import type { MessageView } from '../api/contract/session-view.ts'
import { sessionFolder } from '../world/os/folders.ts'
import { type Home, homeExists } from '../world/os/home.ts'
import { readOne } from '../world/store/read.ts'
import { messageView } from './session-view.ts'

/** What a session was given to read, in order, from disk alone; the prompt is the first. */
export function readMessages(home: Home, id: string): MessageView[] {
  const session = homeExists(home) ? readOne(home, id) : undefined
  return session?.messages.map(messageView) ?? []
}

/** The whole text of a message, as it was sent. */
export function readMessage(home: Home, id: string, number: number): Uint8Array {
  const { prompt, messages } = sessionFolder(home, id)
  return fs.readFileSync(number === 1 ? prompt : `${messages}/${number}`)
}
