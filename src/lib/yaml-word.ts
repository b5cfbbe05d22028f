const PLAIN = /^[a-z~/][\w./~-]*$/i
const NOT_TEXT = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i

/** Returns a text as one scalar of YAML: in quotes where YAML would read `2024`, `1e3` or `true` as something else. */
export function yamlWord(text: string): string {
  return PLAIN.test(text) && !NOT_TEXT.test(text) ? text : JSON.stringify(text)
}
