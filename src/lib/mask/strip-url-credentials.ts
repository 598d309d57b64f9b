/** Returns an address for display: `https://me:secret@host/x` without the part before the @. */
export function stripCredentials(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
}
