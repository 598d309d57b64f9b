import { form, type Form } from './form.ts'

/** What stands for a value that is somewhere else, or is an option, is no secret. */
const VALUE = String.raw`(?![$<{*-])[^ \t"'\r\n]`

/** Passwords that a program is given as an argument of its, which only that program would call one. */
export const COMMANDS: readonly Form[] = [
  after(
    'curl',
    String.raw`((?:^|[ \t])(?:-u|-U|--user|--proxy-user)[ \t=]{1,4}["']?[^ \t:"'/]{1,100}:)${VALUE}{3,300}`,
  ),
  form(['sshpass'], String.raw`(\bsshpass[ \t]+(?:-[a-z]+[ \t]+){0,3}-p[ \t]*["']?)${VALUE}{1,300}`),
  after('mysql', String.raw`([ \t]-p["']?)${VALUE}{3,300}`),
  after('mariadb', String.raw`([ \t]-p["']?)${VALUE}{3,300}`),
  // The lines of a .netrc: all in one, or one each.
  form(['password'], String.raw`(\b(?:login|machine|account)[ \t]+[^ \t]{1,200}[ \t]+password[ \t]+)[^ \t\r\n]{3,300}`),
  form(
    ['password'],
    String.raw`(^[ \t]{0,20}password[ \t]+)(?=[^ \t\r\n]{0,200}\d)[^ \t\r\n]{6,300}(?=[ \t]{0,20}\r?$)`,
  ),
]

/** Only in what follows the program's name. */
function after(program: string, source: string): Form {
  const { find } = form([program], source)
  return {
    anchors: [program],
    find: line => {
      const at = line.indexOf(program)
      return find(line.slice(at)).map(([from, to]) => [at + from, at + to])
    },
  }
}
