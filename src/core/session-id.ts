/** Ids are made by us, become parts of paths and refs, and are read back from where others write: nothing else is one. */
const SESSION_ID = /^[a-z0-9]{1,20}$/

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text)
}
