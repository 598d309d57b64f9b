/** Returns the name that the user gave last. JSON, refs and panes keep the first one. */
export function shownName({ label, name }: { readonly label?: string | null; readonly name: string }): string {
  return label ?? name
}
