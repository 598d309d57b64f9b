import fs from 'node:fs'
import path from 'node:path'
import type { TestHome } from './test-home.ts'
import { binFolder } from './bin-folder.ts'

/** Stubs of system programs, which work on files of the test home and record each call. */
export class BootStubs {
  readonly #folder: string
  readonly bin: string

  constructor(testHome: TestHome, programs: readonly (keyof typeof STUBS)[]) {
    this.#folder = fs.mkdtempSync(path.join(testHome.root, 'stubs-'))
    const scripts = Object.fromEntries(
      programs.map(name => [
        name,
        `cd '${this.#folder}' || exit 1\n[ "$1" = - ] || echo "${name} $*" >>calls\n${STUBS[name]}`,
      ]),
    )
    this.bin = binFolder(testHome, { tools: ['tmux', 'grep', 'cp', 'ln', 'basename'], scripts })
  }

  calls(): string[] {
    return this.read('calls')?.trimEnd().split('\n') ?? []
  }

  read(name: string): string | undefined {
    const file = path.join(this.#folder, name)
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined
  }

  /**
   * Writes a file that a stub uses: `crontab` and `linger` hold its state, `refuses` and `denied` make it fail, and
   * with `asleep` the manager runs only for a user who lingers.
   */
  write(name: string, text: string): void {
    fs.writeFileSync(path.join(this.#folder, name), text)
  }
}

const UNITS = '$XDG_CONFIG_HOME/systemd/user'

const STUBS = {
  systemctl: `shift
case $1 in
  show-environment)
    [ ! -e asleep ] || [ -e linger ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; } ;;
  daemon-reload | reset-failed) ;;
  enable)
    [ -e "${UNITS}/$3" ] || { echo "Failed to enable unit: Unit file $3 does not exist." >&2; exit 1; }
    mkdir -p "${UNITS}/default.target.wants" && ln -sf "../$3" "${UNITS}/default.target.wants/$3" ;;
  disable) rm -f "${UNITS}/default.target.wants/$3" ;;
  start) touch active; oneshot daemon start ;;
  stop) rm -f active; oneshot daemon stop ;;
  is-active) [ -e active ] || exit 3 ;;
  *) echo "Unknown command verb $1." >&2; exit 1 ;;
esac`,
  loginctl: `case $1 in
  show-user)
    if [ -e linger ]; then echo Linger=yes; else echo "Failed to get user: User ID 1 is not logged in or lingering" >&2; exit 1; fi ;;
  --no-ask-password)
    if [ -e denied ]; then echo "Could not enable linger: Access denied" >&2; exit 1; fi
    touch linger ;;
esac`,
  launchctl: `case $1 in
  print) case $2 in */*/*) [ -e loaded ] || { echo "Could not find service" >&2; exit 113; } ;; esac ;;
  print-disabled) [ ! -e disabled ] || echo "  \\"$(cat disabled)\\" => disabled" ;;
  enable) rm -f disabled ;;
  bootstrap) [ -e "$3" ] || { echo "Bootstrap failed: 5: Input/output error" >&2; exit 5; }; touch loaded; oneshot daemon start ;;
  bootout) [ -e loaded ] || exit 3; rm loaded ;;
esac`,
  crontab: `[ ! -e refuses ] || { echo "You (me) are not allowed to use this program (crontab)" >&2; exit 1; }
case $1 in
  -l) cat crontab 2>/dev/null || { echo "no crontab for me" >&2; exit 1; } ;;
  -r) rm crontab ;;
  -) cat >crontab ;;
esac`,
  busctl: `[ ! -e rule ] || { cat rule; exit; }
exit 1`,
} as const
