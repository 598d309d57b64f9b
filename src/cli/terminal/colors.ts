/** Functions that colour a text, or return it unchanged. */
export type Paint = { readonly [S in ColorName]: (text: string) => string }

export type ColorName = keyof typeof COLOR_CODES

const COLOR_CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const

export function makePaint(isColoured: boolean): Paint {
  const colorizer = (code: number) => (text: string) =>
    isColoured && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text
  return {
    bold: colorizer(COLOR_CODES.bold),
    dim: colorizer(COLOR_CODES.dim),
    red: colorizer(COLOR_CODES.red),
    green: colorizer(COLOR_CODES.green),
    yellow: colorizer(COLOR_CODES.yellow),
    blue: colorizer(COLOR_CODES.blue),
    magenta: colorizer(COLOR_CODES.magenta),
    cyan: colorizer(COLOR_CODES.cyan),
  }
}

/** Decides about colours: by the option, then NO_COLOR, then the forcing variables, then the kind of output. */
export function shouldUseColor(
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
