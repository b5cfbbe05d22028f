import { withOneFault } from '../with-one-fault.ts'

withOneFault('an external datastore')
