/** Something in a tree must be built, expanded or evaluated, and this is no place for that. */
export class NeedsCage extends Error {
  constructor() {
    super('a tree with definitions or kustomizations is read in a process that can be ended')
    this.name = 'NeedsCage'
  }
}
