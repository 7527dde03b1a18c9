import { startTemporal } from './engines/temporal/server.ts';
import { testRecipe } from './recipe.ts';

testRecipe('temporal', startTemporal);
