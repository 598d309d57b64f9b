import { bashScript, fishScript, zshScript } from '../completion/scripts.ts'
import type { Line } from '../line/line.ts'
import type { Surroundings } from '../surroundings.ts'
import type { SHELLS } from '../table/set-up.ts'

export async function completion(line: Line, { screen }: Surroundings): Promise<number> {
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
  screen.out.say(scripts[line.words[0] as (typeof SHELLS)[number]].trim())
  return 0
}
