/** An address as it may be shown: `https://me:secret@host/x` without what lies before the @. */
export function withoutLogin(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
}
