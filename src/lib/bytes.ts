const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Formats an amount of memory for people: `512 MB`, `1.5 GB`; 1 KB is 1024 bytes. */
export function formatBytes(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** step
  return `${amount >= 10 || Number.isInteger(amount) ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step]}`
}

/** Parses `512M`, `4G`, `1.5 GB`; a bare number means bytes. Returns undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(text.trim()) ?? []
  if (amount === undefined) return undefined
  const bytes = Math.round(Number(amount) * 1024 ** ' kmgt'.indexOf(unit.toLowerCase() || ' '))
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}
