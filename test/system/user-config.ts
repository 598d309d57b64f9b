import fs from 'node:fs'
import path from 'node:path'
import type { House } from './house.ts'

/** Writes the config file of the house's user. */
export function userConfig(house: House, toml: string): string {
  const file = path.join(house.env['XDG_CONFIG_HOME'] ?? '', 'oneshot', 'config.toml')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, toml, { mode: 0o600 })
  return file
}
