/** Colours a text, or leaves it as it is. */
export type Paint = { readonly [S in Shade]: (text: string) => string }

export type Shade = keyof typeof CODES

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const

export function paintWith(isColoured: boolean): Paint {
  const shade = (code: number) => (text: string) =>
    isColoured && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text
  return {
    bold: shade(CODES.bold),
    dim: shade(CODES.dim),
    red: shade(CODES.red),
    green: shade(CODES.green),
    yellow: shade(CODES.yellow),
    blue: shade(CODES.blue),
    magenta: shade(CODES.magenta),
    cyan: shade(CODES.cyan),
  }
}

/** Whether to colour: what was asked for, then NO_COLOR, then the forcing variables, then whether anybody sees it. */
export function wantsColour(
  choice: 'auto' | 'always' | 'never' | undefined,
  env: NodeJS.ProcessEnv,
  isTerminal: boolean,
): boolean {
  if (choice === 'always') return true
  if (choice === 'never' || env.NO_COLOR) return false
  if (isSet(env.CLICOLOR_FORCE) || isSet(env.FORCE_COLOR)) return true
  return isTerminal && env.TERM !== 'dumb'
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}
