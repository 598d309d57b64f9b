import fs from 'node:fs'
import { stubAgents } from './stub-agents.ts'
import { binFolder } from './bin-folder.ts'
import type { TestHome } from './test-home.ts'

/**
 * An agent that follows the title of its task, in words such as `[good a.txt]`: it works, lies, or breaks things. It
 * takes one word for each iteration, and the last one for all that follow: `[idle|good a.txt]`. It resolves a merge
 * conflict unless the title says `[… stubborn]`, or drops one side with `[… careless]`.
 */
const script = (more: string): string => String.raw`
prompt=$(cat)
title=$(printf '%s\n' "$prompt" | sed -n '/^# The task/,/^# Rules/p' | grep -o '\[[a-z|]* [^]]*\]' | head -1)
words=$(printf '%s' "$title" | sed 's/^\[\([a-z|]*\) .*/\1/')
file=$(printf '%s' "$title" | sed 's/^\[[a-z|]* \([^] ]*\).*/\1/')
past=$(printf '%s\n' "$prompt" | grep -c '^Iteration [0-9]')
word=$(printf '%s' "$words" | cut -d'|' -f$((past + 1)))
[ -n "$word" ] || word=$(printf '%s' "$words" | sed 's/.*|//')
echo "$file $word" >> "$TEMPERS"
work() { echo "$file" >> "$file"; git add "$file"; git -c user.name=a -c user.email=a@b commit -qm "make $file" -- "$file"; }
case $prompt in
'Plan: '*)
  echo plan >> "$TEMPERS"
  idea=$(printf '%s\n' "$prompt" | sed -n '/^# The idea/,/^# /p')
  { echo '# The plan'; echo; printf '%s\n' "$idea" | grep -o '\[[a-z|]* [^]]*\]' | sed 's/^/- [ ] make it /'; } > PRD.md
  git add PRD.md; git -c user.name=a -c user.email=a@b commit -qm 'plan' -- PRD.md ;;
'Resolve a merge conflict'*)
  case $title in
  *stubborn*) ;;
  *careless*) git merge --abort; echo done > notes.txt; git add notes.txt
    git -c user.name=a -c user.email=a@b commit -qm 'notes' ;;
  *) for f in $(git diff --name-only --diff-filter=U); do
       sed -i '/^<<<<<<<\|^=======\|^>>>>>>>/d' "$f"; git add "$f"
     done
     git -c user.name=a -c user.email=a@b commit -qm 'bring together' ;;
  esac ;;
*)
  case $word in
${more}
  good) work ;;
  quiet) echo "$file" > "$file" ;;
  liar) sed -i 's/- \[ \]/- [x]/' PRD.md ;;
  closes) for id in $(bd list --json | grep -o '"id":"[^"]*"' | cut -d'"' -f4); do bd close "$id" >/dev/null; done ;;
  ticks) work; sed -i 's/- \[ \]/- [x]/' PRD.md ;;
  breaks) work; echo no > broken; git add broken; git -c user.name=a -c user.email=a@b commit -qm 'break it' -- broken ;;
  mends) rm -f broken; work; git -c user.name=a -c user.email=a@b commit -qam 'mend it' ;;
  dies) [ -e "$TEMPERS.$file" ] || { : > "$TEMPERS.$file"; kill -9 $$; }; work ;;
  limited) [ -e "$TEMPERS.$file" ] || {
      : > "$TEMPERS.$file"
      echo '{"type":"turn.started"}'
      echo '{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again in 1 second."}}'
      exit 1
    }
    work ;;
  slow) until [ -e "$GATE" ]; do sleep 0.02; done; work ;;
  late) until [ -e "$GATE.$file" ]; do sleep 0.02; done
    echo "$file" > shared.txt; git add shared.txt; git -c user.name=a -c user.email=a@b commit -qm "make $file" -- shared.txt ;;
  both) echo "$file" > shared.txt; git add shared.txt; git -c user.name=a -c user.email=a@b commit -qm "make $file" -- shared.txt ;;
  esac ;;
esac
`

/**
 * Installs it as the test home's codex. Returns the gate file that `slow` waits for, and a function that lists the
 * behaviour of each run. `more`: further behaviours, as branches of a shell's `case`.
 */
export function installScriptedAgent(testHome: TestHome, more = ''): { gate: string; tempers: () => string[] } {
  const gate = `${testHome.project}.gate` // Each test of a file has its own project.
  const record = `${testHome.project}.tempers`
  const { codex = '' } = stubAgents(script(more))
  testHome.env['PATH'] = `${binFolder(testHome, { scripts: { codex } })}:${testHome.env['PATH']}`
  Object.assign(testHome.env, { GATE: gate, TEMPERS: record })
  const tempers = (): string[] => (fs.existsSync(record) ? fs.readFileSync(record, 'utf8').trim().split('\n') : [])
  return { gate, tempers }
}
