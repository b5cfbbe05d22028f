import { largeEstate } from '../../src/server/testing/fake-estate.ts'
import { tellStories } from './stories.ts'

tellStories('1,000 machines', largeEstate)
