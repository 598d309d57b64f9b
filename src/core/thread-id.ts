/** Whether a thread's id can be neither an option nor a path: agents and remotes name threads, and programs and file names get the ids. */
export function isThreadId(id: string): boolean {
  return /^\w[\w.:-]{0,199}$/.test(id) && !id.includes('..')
}
