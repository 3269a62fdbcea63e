p <- (1:2000 - 0.5) / 2000
y <- as.integer((1:2000 * 7919) %% 2000 < 2000 * p^1.3)
write.csv(data.frame(y, p), "rows.csv", row.names = FALSE)

asked <- c("test", "rows.csv", "--label", "y", "--prob", "p", "--format", "json")
test <- jsonlite::fromJSON(system2("calibstat", asked, stdout = TRUE))
cat(test$answer, "\n", sep = "")
cat(sprintf("p = %.3f, %d rows\n", test$omnibus.pvalue, test$omnibus.n))
