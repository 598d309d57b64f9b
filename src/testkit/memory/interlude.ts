import type { Line } from './stage.ts'

/** Lets the world do something right before or after a supervisor's call: as often as the deed says `true`, never again. */
export function interlude(call: string, when: 'before' | 'after', deed: () => boolean): Line {
  let isOver = false
  const play = (): void => {
    if (!isOver) isOver = !deed()
  }
  return {
    feed: <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          if (name !== call) return value.bind(target)
          return (...args: unknown[]) => {
            if (when === 'before') play()
            const result: unknown = value.apply(target, args)
            if (when === 'after') play()
            return result
          }
        },
      }),
  }
}
